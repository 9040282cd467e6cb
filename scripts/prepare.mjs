// Installs and builds what is missing or out of date, and nothing else; every command that needs it calls it first.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { npmCommand, ROOT, run } from './run.mjs';

const MODULES = join(ROOT, 'node_modules');
const INSTALLED = join(MODULES, '.fleetmend-lock-hash');
const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.built');
const OWN = join(ROOT, '.fleetmend');
const LOCK = join(OWN, 'prepare.lock');
const SOURCE_FOLDERS = ['libs', 'services', 'test'];
const SOURCE_FILES = ['tsconfig.base.json', 'tsconfig.json', 'tsconfig.build.json', 'package.json'];
const NOT_BUILT = /\.(spec|int-spec|e2e-spec)\.ts$|\.d\.ts$/;

const mtime = (path) => fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const say = (line) => console.error(line);

/** Makes node_modules and dist current. Throws an Error whose message says what to do. Safe when several run at once. */
export async function prepare() {
  if (!installNeeded() && !buildNeeded()) return;
  await withLock(async () => {
    if (installNeeded()) await install();
    if (buildNeeded()) await build();
  });
}

const lockHash = () =>
  createHash('sha256')
    .update(fs.readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');

/** npm writes its own list last, so an interrupted install has none; our hash spares an install when only the file's time changed. */
function installNeeded() {
  const list = mtime(join(MODULES, '.package-lock.json'));
  if (list === 0) return true;
  if (list >= mtime(join(ROOT, 'package-lock.json'))) return false;
  return !fs.existsSync(INSTALLED) || fs.readFileSync(INSTALLED, 'utf8') !== lockHash();
}

async function install() {
  // npm would empty the folder that the link leads to, under whoever else uses it.
  if (fs.lstatSync(MODULES, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(
      'node_modules is a link, and its packages are not those of package-lock.json: run `npm ci` where it leads, or remove the link.',
    );
  say('Installing the packages of package-lock.json (npm ci) …');
  const [command, ...first] = npmCommand();
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  // The build needs the development packages also where NODE_ENV=production is set.
  const status = await run(command, [...first, 'ci', '--include=dev', ...quiet], { env: { ...process.env, ...cacheSetting() } });
  if (status !== 0)
    throw new Error(`npm ci failed (status ${status}); what npm said is above. Once that is mended, run the same command again.`);
  fs.writeFileSync(INSTALLED, lockHash());
}

/** npm's cache lies in the home folder, which may be missing or not ours; then the project has one of its own. */
function cacheSetting() {
  const cache = process.env.npm_config_cache || join(homedir() || '/', '.npm');
  return isWritable(cache) ? {} : { npm_config_cache: join(OWN, 'npm-cache') };
}

function isWritable(path) {
  let existing = path;
  while (!fs.existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    fs.accessSync(existing, fs.constants.W_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Folders count too: their time changes when a file in them is removed or renamed. */
function newestIn(path) {
  const stats = fs.statSync(path, { throwIfNoEntry: false });
  if (!stats || NOT_BUILT.test(path)) return 0;
  if (!stats.isDirectory()) return stats.mtimeMs;
  return fs.readdirSync(path).reduce((newest, name) => Math.max(newest, newestIn(join(path, name))), stats.mtimeMs);
}

function buildNeeded() {
  const newest = Math.max(...[...SOURCE_FOLDERS, ...SOURCE_FILES].map((name) => newestIn(join(ROOT, name))));
  return newest > mtime(STAMP);
}

async function build() {
  say('Building …');
  const begun = new Date();
  const [command, ...first] = npmCommand();
  fs.rmSync(STAMP, { force: true });
  const status = await run(command, [...first, 'run', '--silent', 'build']);
  if (status !== 0) throw new Error(`The build failed (status ${status}); the compiler's errors are above.`);
  fs.mkdirSync(DIST, { recursive: true });
  removeStale(DIST);
  fs.writeFileSync(STAMP, '');
  // Of the beginning: what changed while the compiler ran has to be built again.
  fs.utimesSync(STAMP, begun, begun);
}

/** Removes what the compiler made of sources that are gone, with the folders this empties. Gives whether anything is left. */
function removeStale(folder) {
  let left = false;
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const keep = entry.isDirectory() ? removeStale(path) : !isStale(path);
    if (keep) left = true;
    else fs.rmSync(path, { recursive: true });
  }
  return left;
}

function isStale(path) {
  const source = join(ROOT, path.slice(DIST.length)).replace(/\.js(\.map)?$/, '.ts');
  return source.endsWith('.ts') && (!fs.existsSync(source) || NOT_BUILT.test(source));
}

async function withLock(work) {
  await takeLock();
  try {
    await work();
  } finally {
    fs.rmSync(LOCK, { force: true });
  }
}

async function takeLock() {
  for (let waited = false; ;) {
    try {
      fs.mkdirSync(OWN, { recursive: true });
      fs.writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST')
        throw new Error(`${ROOT} has to be installed or built, and this user may not write there (${error.message}).`);
    }
    if (!removeDeadLock()) {
      if (!waited) say(`Waiting for another ${basename(ROOT)} that installs or builds …`);
      waited = true;
      await delay(250);
    }
  }
}

/** Whether the lock's holder was dead, and the lock removed. A lock just being written (still empty) counts as alive for ten seconds. */
function removeDeadLock() {
  let text = '';
  try {
    text = fs.readFileSync(LOCK, 'utf8');
  } catch {
    return true;
  }
  const pid = Number(text);
  const dead = pid > 0 ? !isAlive(pid) : Date.now() - mtime(LOCK) > 10_000;
  if (dead) fs.rmSync(LOCK, { force: true });
  return dead;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** `prepare`, but ends the process with the message and status 1 when it fails. */
export async function prepareOrExit() {
  try {
    await prepare();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepareOrExit();
