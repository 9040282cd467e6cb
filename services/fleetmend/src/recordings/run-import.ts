import { DEFAULT_PROJECT } from '#contracts';
import { CommandError, exitCodes, type ExitCode } from '../exit-codes.js';
import { findGateway, Gateway, type GatewayOptions } from '../http/gateway.js';
import { answer, type FormatOption } from '../output/answer.js';
import { importFiles, type ImportSummary } from './import.js';
import { readTools } from './read-tools.js';

export interface RunImportOptions extends GatewayOptions, FormatOption {
  readonly withRewards?: boolean;
  readonly tools?: string;
  readonly domain?: string;
  readonly project?: string;
  readonly retryS: number;
}

export async function runImport(files: readonly string[], options: RunImportOptions): Promise<ExitCode> {
  const address = await findGateway(options);
  checkProject(options.project, address.key);
  const { withRewards, domain, retryS } = options;
  const tools = await readTools(options.tools);
  const summary = await importFiles(new Gateway(address), files, { withRewards, domain, tools, retryS });
  const { sessions: _, ...shown } = summary;
  await answer(shown, options, summaryText);
  return summary.rejected > 0 ? exitCodes.finding : exitCodes.ok;
}

/** The project is the key's, never a flag's: a flag can only make sure of it. */
function checkProject(project: string | undefined, key: string | undefined): void {
  if (project === undefined) return;
  const actual = key === undefined ? DEFAULT_PROJECT : /^fm_([a-z0-9-]+)_/.exec(key)?.[1];
  if (actual === project) return;
  const have = key === undefined ? `without a key turns go to ${DEFAULT_PROJECT}` : `the key is of ${actual ?? 'no project'}`;
  throw new CommandError(
    exitCodes.notAllowed,
    `--project ${project}: ${have}; give a key of ${project} with --key or FLEETMEND_KEY`,
  );
}

export function summaryText({ read, accepted, rejected, scores }: Omit<ImportSummary, 'sessions'>): string {
  const rewards = scores > 0 ? `, ${scores} rewards posted` : '';
  return `${read} turns read, ${accepted} accepted, ${rejected} rejected${rewards}`;
}
