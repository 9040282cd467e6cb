import { setMaxListeners } from 'node:events';
import { commandLineEnvironment, loadSettings, type LoadedSettings } from '#config';
import { CommandError, exitCodes, type ExitCode } from '../exit-codes.js';
import { explainError } from '../explain-error.js';
import type { FormatOption } from '../output/answer.js';
import { say } from '../output/write.js';
import { withDatabase } from '../postgres/database.js';
import { sizeOf } from '../recordings/read-recordings.js';
import { readTools } from '../recordings/read-tools.js';
import { printSeen } from './closing-table.js';
import { runFirstJob, type FirstJobOptions } from './first-job.js';
import { startLoop } from './start-loop.js';
import { StartedParts } from './started-parts.js';
import { Interrupted, Stopping } from './stopping.js';

export interface UpOptions extends FormatOption {
  readonly import?: string[];
  readonly sample: boolean;
  readonly exitAfterImport?: boolean;
  readonly withRewards?: boolean;
  readonly tools?: string;
  readonly domain?: string;
  readonly key?: string;
  readonly logLevel?: string;
}

const RETRY_S = 60;
/** Five services in one process each listen to the same streams and signals. */
const LISTENERS = 50;

/** Everything in this process, until somebody ends it. Gives 0 after a wished end, 1 when something of the import was rejected. */
export async function runUp(options: UpOptions): Promise<ExitCode> {
  const settings = quietSettings(options.logLevel);
  const job = await jobOf(options);
  setMaxListeners(LISTENERS);
  const stopping = new Stopping();
  stopping.listen();
  const parts = new StartedParts(stopping);
  const code = await liveUntilWished({ settings, job, options, parts, stopping }).finally(() => parts.stopAll());
  say('stopped');
  return code;
}

async function liveUntilWished(life: Life): Promise<ExitCode> {
  try {
    return await live(life);
  } catch (error) {
    if (error instanceof Interrupted) return exitCodes.ok;
    throw clear(error);
  }
}

interface Life {
  readonly settings: LoadedSettings;
  readonly job: FirstJobOptions;
  readonly options: UpOptions;
  readonly parts: StartedParts;
  readonly stopping: Stopping;
}

async function live({ settings, job, options, parts, stopping }: Life): Promise<ExitCode> {
  const loop = await startLoop(settings, parts, stopping);
  const done = await stopping.race(
    withDatabase(loop.databaseUrl, async (db) => {
      const result = await runFirstJob(loop, db, { ...job, signal: stopping.signal });
      await printSeen(loop, db, result, options);
      return result;
    }),
  );
  if (options.exitAfterImport === true) return (done.imported?.rejected ?? 0) > 0 ? exitCodes.finding : exitCodes.ok;
  say('running; end with Ctrl-C');
  return stopping.wait();
}

/** Progress is told in words here, so the services say no more than warnings unless another level is asked for. */
function quietSettings(level: string | undefined): LoadedSettings {
  const settings = loadSettings(undefined, level === undefined ? {} : { log_level: level });
  if (level !== undefined || settings.process.log_level !== 'info') return settings;
  return { ...settings, process: { ...settings.process, log_level: 'warn' } };
}

/** Looked at before anything is started: a misspelt file name should not cost a start. */
async function jobOf(options: UpOptions): Promise<FirstJobOptions> {
  const { import: files = [], sample, withRewards, domain, key = commandLineEnvironment().key } = options;
  await sizeOf(files);
  return { files, sample, withRewards, domain, key, retryS: RETRY_S, tools: await readTools(options.tools) };
}

/** A service that cannot start says so in its own words; only the exit code is ours. */
function clear(error: unknown): CommandError {
  const { exitCode, message } = explainError(error);
  return new CommandError(exitCode, message ?? 'it did not start', { cause: error });
}
