import { readFileSync } from 'node:fs';
import { explainError } from './explain-error.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { say } from './output/write.js';
import { createProgram } from './program.js';

/** Runs one command line (without node and script) and gives its exit code. Never throws. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  try {
    await createProgram(ownVersion(), (given) => (code = given)).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    const { exitCode, message } = explainError(error);
    if (message !== null) say(`fleetmend: ${message}`);
    if (message !== null && (await debugging())) say(error instanceof Error ? (error.stack ?? '') : '');
    return exitCode;
  }
}

/** A stack is for those who asked for one (log_level debug). */
async function debugging(): Promise<boolean> {
  const { loadSettings } = await import('#config');
  try {
    return ['debug', 'trace'].includes(loadSettings().process.log_level);
  } catch {
    return false;
  }
}

/** From package.json, which is four folders up in dist (dist/services/fleetmend/src) as well as among the sources, less dist itself. */
function ownVersion(): string {
  for (const up of ['../../../../package.json', '../../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version?: string };
      if (version !== undefined) return version;
    } catch {
      // Not there: the other one.
    }
  }
  return 'unknown';
}
