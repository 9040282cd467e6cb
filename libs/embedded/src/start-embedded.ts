import { acquireDataDir } from './data-dir/data-dir.js';
import { type EmbeddedError } from './errors.js';
import { startNats } from './nats/start-nats.js';
import { startPostgres } from './postgres/start-postgres.js';
import { checkDatabase, checkNats, REACH_MS } from './reach.js';

export interface EmbeddedOptions {
  /** The data folder; created where missing and locked until `stop`, unless both servers are given. */
  dir: string;
  /** The values of NATS_URL, DATABASE_URL and NATS_SERVER_BIN; a server whose URL is given is checked, not started. */
  natsUrl?: string | undefined;
  databaseUrl?: string | undefined;
  natsServerBin?: string | undefined;
  log?: ((line: string) => void) | undefined;
  /** Called when a started server ends though nobody stopped it. */
  onCrash?: ((error: EmbeddedError) => void) | undefined;
  /** How long a given server may take to answer, ms. */
  reachMs?: number | undefined;
}

/** The URLs to use; `databaseUrl` has a password in it: do not log it. `stop` ends what was started, and may be called again. */
export interface Embedded {
  natsUrl: string;
  databaseUrl: string;
  stop(): Promise<void>;
}

interface Part {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts NATS and Postgres at the same time, those that are not given. Whatever was started is stopped again when the other fails, and
 * when this process ends for whatever reason. Throws EmbeddedError.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const lock = options.natsUrl && options.databaseUrl ? undefined : await acquireDataDir(options.dir);
  const inDir = { ...options, dir: lock?.dir ?? options.dir };
  const parts = await Promise.allSettled([natsPart(inDir), databasePart(inDir)]);
  const stop = async (): Promise<void> => {
    await Promise.all(parts.map((part) => (part.status === 'fulfilled' ? part.value.stop() : Promise.resolve())));
    await lock?.release();
  };
  const [nats, database] = parts;
  if (nats.status === 'fulfilled' && database.status === 'fulfilled') {
    return { natsUrl: nats.value.url, databaseUrl: database.value.url, stop };
  }
  await stop();
  throw nats.status === 'rejected' ? nats.reason : (database as PromiseRejectedResult).reason;
}

async function natsPart(options: EmbeddedOptions): Promise<Part> {
  if (!options.natsUrl) return startNats(options);
  await checkNats(options.natsUrl, options.reachMs ?? REACH_MS);
  return { url: options.natsUrl, stop: () => Promise.resolve() };
}

async function databasePart(options: EmbeddedOptions): Promise<Part> {
  if (!options.databaseUrl) return startPostgres(options);
  await checkDatabase(options.databaseUrl, options.reachMs ?? REACH_MS);
  return { url: options.databaseUrl, stop: () => Promise.resolve() };
}
