import { keyScopes, projectName, type ApiKey, type CreatedKey } from '#contracts';
import { toEpochMicros } from '#ingest';
import { UnitOfWork } from '#persistence';
import { KeyIssuer } from '../../../gateway/src/access/key-issuer.js';
import { Database } from '../../../gateway/src/postgres/database.js';
import { KeyDirectory } from '../../../gateway/src/postgres/key-directory.js';
import { Keys } from '../../../gateway/src/postgres/keys.js';
import { CommandError, exitCodes } from '../exit-codes.js';
import { withDatabase } from '../postgres/database.js';

/** Who may open the database may make keys: for the first one, and where nobody has an operator's key (any more). */
export interface NewKey {
  readonly project: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires: string | undefined;
}

const WHO = 'the command line, in the database';
const MOST_LISTED = 1_000;

export async function createKeyInDatabase(databaseUrl: string, { project, name, scopes, expires }: NewKey): Promise<CreatedKey> {
  const unknown = scopes.filter((scope) => !(keyScopes as readonly string[]).includes(scope));
  if (unknown.length > 0 || scopes.length === 0)
    throw new CommandError(exitCodes.usage, `--scopes: ${unknown.join(', ') || 'none'}: there are ${keyScopes.join(', ')}`);
  const request = {
    project: projectName.parse(project),
    name,
    scopes: keyScopes.filter((scope) => scopes.includes(scope)),
    expiresAt: expires === undefined ? null : timeOf(expires),
  };
  const caller = { project, scopes: keyScopes, key: null, who: WHO };
  const created = await inDatabase(databaseUrl, (_keys, issuer) => issuer.issue(request, caller));
  // Whoever comes this way is not locked out.
  return { ...created, notes: [] };
}

export async function listKeysInDatabase(databaseUrl: string, project: string): Promise<ApiKey[]> {
  return inDatabase(databaseUrl, (keys) => keys.list(project, null, MOST_LISTED));
}

export async function revokeKeyInDatabase(databaseUrl: string, project: string, id: string): Promise<ApiKey> {
  const key = await inDatabase(databaseUrl, (keys) => keys.revoke(project, id, WHO));
  if (key !== undefined) return key;
  throw new CommandError(exitCodes.notFound, `the project ${project} has no key ${id}; \`fleetmend keys list\` shows them`);
}

/** In the gateway's own role and with its own code: the rows are its alone to write. */
function inDatabase<T>(databaseUrl: string, work: (keys: Keys, issuer: KeyIssuer) => Promise<T>): Promise<T> {
  return withDatabase(
    databaseUrl,
    (source) => {
      const database = new Database(source);
      const keys = new Keys(database, new UnitOfWork(source, { publish: () => Promise.resolve([]) }, 'gateway'));
      return work(keys, new KeyIssuer(keys, new KeyDirectory(database)));
    },
    'fm_gateway',
  );
}

function timeOf(text: string): number {
  const micros = toEpochMicros(text);
  if (micros !== undefined) return micros;
  throw new CommandError(exitCodes.usage, `--expires: "${text}" is no time such as 2027-01-31T00:00:00Z`);
}
