// npm run generate: writes the documents that derive from the code. With --check it only compares, names what differs, and ends with 1.
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { prepareOrExit } from './prepare.mjs';
import { ROOT } from './run.mjs';

const EXAMPLES = join(ROOT, 'libs/contracts/src/docs/examples');
/** Folders in which every file is a generated one: what is there and not made any more is removed. */
const OWN_FOLDERS = ['docs/generated'];

const load = (path) => import(new URL(`file://${join(ROOT, 'dist', path)}`).href);

function readExamples() {
  const files = fs.readdirSync(EXAMPLES).filter((name) => name.endsWith('.json'));
  const read = (name) => JSON.parse(fs.readFileSync(join(EXAMPLES, name), 'utf8'));
  return Object.fromEntries(files.map((name) => [name.slice(0, -'.json'.length), read(name)]));
}

async function wanted() {
  const { generatedFiles } = await load('libs/contracts/src/docs/index.js');
  const { grants } = await load('libs/persistence/src/index.js');
  const { openApiDocument } = await load('services/gateway/src/http/openapi.js');
  return generatedFiles({ examples: readExamples(), grants, openApi: openApiDocument() });
}

function filesIn(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)));
}

const textOf = (path) => {
  const file = join(ROOT, path);
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
};

await prepareOrExit();
const files = await wanted();
const changed = [...files].filter(([path, text]) => textOf(path) !== text).map(([path]) => path);
const stale = OWN_FOLDERS.flatMap((folder) => filesIn(join(ROOT, folder))).filter((path) => !files.has(path));
if (process.argv.includes('--check')) {
  for (const path of changed) console.error(`${path} is not what the code says`);
  for (const path of stale) console.error(`${path} is not generated any more`);
  if (changed.length + stale.length > 0) console.error('Run `npm run generate` and commit what it changed.');
  process.exit(changed.length + stale.length > 0 ? 1 : 0);
}
for (const path of changed) {
  fs.mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  fs.writeFileSync(join(ROOT, path), files.get(path));
}
for (const path of stale) fs.rmSync(join(ROOT, path));
console.log(
  changed.length + stale.length === 0 ? 'Nothing changed.' : [...changed, ...stale.map((path) => `${path} (removed)`)].join('\n'),
);
process.exit(0);
