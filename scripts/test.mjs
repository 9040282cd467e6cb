// npm test: prepares, then runs every check and every tier of tests, and ends with the sums. "npm test -- unit e2e" runs those only.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { prepare } from './prepare.mjs';
import { requireNode, ROOT, runWatched, whenNpmIsGone } from './run.mjs';
import { makeTempDir, removeDeadTempDirs, startServers } from './test-servers.mjs';

const MINUTE = 60_000;
/** A test run that has written its results but does not end has left something open. */
const LINGER_MS = 20_000;
const SERVER_TIERS = ['integration', 'e2e'];
const JEST = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];

/** In this order; a check counts as one test, a tier as what jest counts. */
const STEPS = [
  { name: 'format', args: ['node_modules/prettier/bin/prettier.cjs', '--check', '.'], limit: 5 * MINUTE },
  { name: 'lint', args: ['node_modules/eslint/bin/eslint.js', '.', '--max-warnings', '0'], limit: 10 * MINUTE },
  { name: 'types', args: ['node_modules/@typescript/native/bin/tsc', '-p', 'tsconfig.json'], limit: 10 * MINUTE },
  { name: 'generated', npmScript: 'generate:check', limit: 5 * MINUTE },
  { name: 'unit', tier: true, limit: 10 * MINUTE },
  { name: 'architecture', tier: true, limit: 5 * MINUTE },
  { name: 'integration', tier: true, limit: 20 * MINUTE },
  { name: 'e2e', tier: true, limit: 20 * MINUTE },
];

const state = { running: undefined, servers: undefined, dir: undefined, interrupted: undefined };

/** The steps of the given names, or all; a check whose npm script does not exist yet is left out. */
function chooseSteps(names) {
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(', ')}; there are: ${STEPS.map(({ name }) => name).join(', ')}`);
    process.exit(2);
  }
  const { scripts } = JSON.parse(fs.readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const exists = ({ npmScript }) => npmScript === undefined || scripts[npmScript] !== undefined;
  return STEPS.filter((step) => exists(step) && (names.length === 0 || names.includes(step.name)));
}

/** Runs a program for at most `limit` ms. `done()` may say that its work is done; it then gets a little time to end by itself. */
async function runBounded(command, args, { limit, done = () => false, ...options }) {
  const running = runWatched(command, args, options);
  state.running = running;
  if (state.interrupted) running.stop();
  const begun = Date.now();
  let doneAt = Infinity;
  let cutOff;
  const timer = setInterval(() => {
    if (doneAt === Infinity && done()) doneAt = Date.now();
    if (Date.now() - begun > limit) cutOff = `did not end within ${limit / MINUTE} minutes`;
    else if (Date.now() - doneAt > LINGER_MS) cutOff = 'finished but did not end: something was left open';
    if (cutOff) running.stop();
  }, 500);
  const status = await running.ended;
  clearInterval(timer);
  state.running = undefined;
  return { status, cutOff };
}

async function runCheck(step) {
  const output = join(state.dir, `${step.name}.log`);
  const descriptor = fs.openSync(output, 'w');
  const [command, args] = step.npmScript ? ['npm', ['run', '--silent', step.npmScript]] : [process.execPath, step.args];
  const { status, cutOff } = await runBounded(command, args, { limit: step.limit, output: descriptor });
  fs.closeSync(descriptor);
  if (status === 0) return { passed: 1, failed: 0, skipped: 0 };
  console.log(fs.readFileSync(output, 'utf8').trimEnd());
  console.log(`${step.name} ${cutOff ?? `ended with status ${status}`}`);
  return { passed: 0, failed: 1, skipped: 0 };
}

async function runTier(step) {
  const results = join(state.dir, `${step.name}.json`);
  const env = SERVER_TIERS.includes(step.name) ? await serverEnv() : {};
  // Whatever the tests put into the temporary folder goes with ours, also when they are interrupted; jest's cache is worth keeping.
  env.TMPDIR = join(state.dir, 'tmp');
  fs.mkdirSync(env.TMPDIR, { recursive: true, mode: 0o711 });
  const args = [
    ...JEST,
    `--cacheDirectory=${jestCache()}`,
    '--selectProjects',
    step.name,
    '--passWithNoTests',
    '--json',
    `--outputFile=${results}`,
  ];
  if (process.env.CI === 'true') args.push('--ci');
  // jest prints the results a second time, as JSON, on its standard output.
  const { status, cutOff } = await runBounded('/bin/sh', ['-c', 'exec "$0" "$@" >/dev/null', process.execPath, ...args], {
    limit: step.limit,
    done: () => fs.existsSync(results),
    env,
  });
  if (cutOff) console.log(`${step.name} ${cutOff}`);
  return countTier(step, results, cutOff ? 1 : status);
}

function jestCache() {
  const kept = join(ROOT, '.fleetmend/jest');
  try {
    fs.mkdirSync(kept, { recursive: true });
    fs.accessSync(kept, fs.constants.W_OK);
    return kept;
  } catch {
    return join(state.dir, 'jest');
  }
}

/** A file of tests that could not even be loaded counts as one failure, and so does a run that failed with no failure to show. */
function countTier(step, results, status) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const report = readReport(results);
  if (report) {
    counts.passed = report.numPassedTests;
    counts.failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
    counts.skipped = report.numPendingTests + report.numTodoTests;
  }
  if ((status !== 0 || !report) && counts.failed === 0) {
    console.log(`the run of ${step.name} failed as a whole (status ${status})`);
    counts.failed = 1;
  }
  return counts;
}

function readReport(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

async function serverEnv() {
  state.servers ??= await startServers(join(state.dir, 'servers'));
  return { TEST_NATS_URL: state.servers.natsUrl, TEST_DATABASE_URL: state.servers.databaseUrl };
}

async function runStep(step) {
  console.log(`▶ ${step.name}`);
  const begun = Date.now();
  let counts;
  try {
    counts = step.tier ? await runTier(step) : await runCheck(step);
  } catch (error) {
    console.log(error.message);
    counts = { passed: 0, failed: 1, skipped: 0 };
  }
  console.log(`${counts.failed > 0 ? '✗' : '✓'} ${step.name}: ${sumLine(counts)} (${Math.round((Date.now() - begun) / 1000)} s)`);
  return counts;
}

function sumLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

async function runAll(steps) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const step of steps) {
    const counts = await runStep(step);
    if (state.interrupted) return sum;
    for (const key of Object.keys(sum)) sum[key] += counts[key];
  }
  return sum;
}

async function cleanUp() {
  await state.servers?.stop();
  // Servers of an interrupted test may still be writing their last.
  fs.rmSync(state.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}

/** The step under way is ended, and with it the run: everything is cleaned up as at any end. */
function interrupt(status) {
  state.interrupted = status;
  state.running?.stop();
}

async function main() {
  requireNode();
  const steps = chooseSteps(process.argv.slice(2));
  try {
    await prepare();
  } catch (error) {
    console.error(error.message);
    console.log(sumLine({ passed: 0, failed: 1, skipped: 0 }));
    process.exit(1);
  }
  removeDeadTempDirs();
  state.dir = makeTempDir();
  process.on('SIGINT', () => interrupt(130));
  process.on('SIGTERM', () => interrupt(143));
  process.on('SIGHUP', () => interrupt(129));
  void whenNpmIsGone(() => interrupt(143));
  const sum = await runAll(steps);
  await cleanUp();
  if (state.interrupted) {
    console.log('interrupted');
    process.exit(state.interrupted);
  }
  console.log(sumLine(sum));
  process.exit(sum.failed > 0 || sum.passed + sum.failed === 0 ? 1 : 0);
}

await main();
