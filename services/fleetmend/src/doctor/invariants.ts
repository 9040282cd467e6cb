import { checkInvariants, type CheckResult } from '#checker';
import { answer, type FormatOption } from '../output/answer.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { requireServers } from '../servers.js';

/** Counts the invariants of DATAFLOW.md over everything stored. Gives exit code 1 when one is violated. */
export async function checkStored(options: FormatOption): Promise<ExitCode> {
  const { natsUrl, databaseUrl, settings } = await requireServers();
  const checked = await checkInvariants({ natsUrl, databaseUrl, base: settings.projects });
  await answer(checked, options, textOf);
  return checked.violations.length > 0 ? exitCodes.finding : exitCodes.ok;
}

function textOf({ violations, counted }: CheckResult): string {
  const counts = Object.entries(counted).map(([name, count]) => `${name}: ${count}`);
  const found = violations.map(({ invariant, detail }) => `invariant ${invariant}: ${detail}`);
  return [...counts, ...(found.length === 0 ? ['no violation'] : found)].join('\n');
}
