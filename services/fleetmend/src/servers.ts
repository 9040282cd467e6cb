import { loadSettings, type LoadedSettings } from '#config';
import { CommandError, exitCodes } from './exit-codes.js';
import { readRunFile } from './run-file.js';

/** The broker and the database that a command works on. */
export interface Servers {
  readonly settings: LoadedSettings;
  readonly natsUrl: string | undefined;
  readonly databaseUrl: string | undefined;
}

/** Those of the settings (NATS_URL, DATABASE_URL), else those of a running `fleetmend up`. */
export async function findServers(): Promise<Servers> {
  const settings = loadSettings();
  const { nats_url: nats, database_url: database, data_dir: dataDir } = settings.process;
  const running = nats && database ? undefined : await readRunFile(dataDir);
  return { settings, natsUrl: nats ?? running?.nats_url, databaseUrl: database ?? running?.database_url };
}

/** @throws CommandError 5 when there is neither */
export async function requireServers(): Promise<Servers & { natsUrl: string; databaseUrl: string }> {
  const { settings, natsUrl, databaseUrl } = await findServers();
  const missing = [natsUrl === undefined ? ['NATS_URL'] : [], databaseUrl === undefined ? ['DATABASE_URL'] : []].flat();
  if (natsUrl !== undefined && databaseUrl !== undefined) return { settings, natsUrl, databaseUrl };
  throw new CommandError(
    exitCodes.unreachable,
    `no \`fleetmend up\` runs with the data folder ${settings.process.data_dir}, and ${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set: start it, or set ${missing.length > 1 ? 'them' : 'it'}`,
  );
}
