import { commandLineEnvironment } from '#config';
import { DEFAULT_PROJECT, type ApiKey, type CreatedKey } from '#contracts';
import { openGateway, type GatewayOptions } from '../http/gateway.js';
import { readPages, type Page, type PageOptions } from '../http/pages.js';
import { answer, listed, type FormatOption } from '../output/answer.js';
import { when, type Column } from '../output/table.js';
import { findServers } from '../servers.js';
import { createKeyInDatabase, listKeysInDatabase, revokeKeyInDatabase } from './in-database.js';

export type KeyOptions = GatewayOptions & FormatOption & { readonly project?: string };
export type KeyListOptions = KeyOptions & PageOptions;
export type CreateKeyOptions = KeyOptions & {
  readonly name: string;
  readonly scopes: string[];
  readonly expires?: string;
};

export async function createKey(options: CreateKeyOptions): Promise<void> {
  const { name, scopes, expires, project } = options;
  const databaseUrl = await directly(options);
  const created =
    databaseUrl === undefined
      ? await createAtGateway(options)
      : await createKeyInDatabase(databaseUrl, { name, scopes, expires, project: project ?? DEFAULT_PROJECT });
  await answer(created, options, ({ key, id, notes }) => [key, `id ${id}; the key is shown this once`, ...notes].join('\n'));
}

async function createAtGateway({ name, scopes, expires, project, ...options }: CreateKeyOptions): Promise<CreatedKey> {
  const more = { ...(expires === undefined ? {} : { expires_at: expires }), ...(project === undefined ? {} : { project }) };
  return (await openGateway(options)).call<CreatedKey>('POST', '/v1/keys', { name, scopes, ...more });
}

export async function listKeys(options: KeyListOptions): Promise<void> {
  const databaseUrl = await directly(options);
  const page: Page<ApiKey> =
    databaseUrl === undefined
      ? await readPages<ApiKey>(await openGateway(options), '/v1/keys', {}, options)
      : { items: await listKeysInDatabase(databaseUrl, options.project ?? DEFAULT_PROJECT), next_cursor: null };
  await answer(page, options, ({ items }) =>
    listed(items, columns, 'no keys: on this machine the gateway may be used without one'),
  );
}

export async function revokeKey(id: string, options: KeyOptions): Promise<void> {
  const databaseUrl = await directly(options);
  const key =
    databaseUrl === undefined
      ? await (await openGateway(options)).call<ApiKey>('DELETE', `/v1/keys/${encodeURIComponent(id)}`)
      : await revokeKeyInDatabase(databaseUrl, options.project ?? DEFAULT_PROJECT, id);
  await answer(key, options, ({ name }) => `the key "${name}" (${id}) is revoked`);
}

/** The database to work in: when neither a key nor a gateway is named, and one is known. Undefined: ask the gateway. */
async function directly({ key, url }: KeyOptions): Promise<string | undefined> {
  const environment = commandLineEnvironment();
  const named = [key, url, environment.key, environment.url].some((one) => one !== undefined);
  return named ? undefined : (await findServers()).databaseUrl;
}

const columns: readonly Column<ApiKey>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'name', of: ({ name }) => name },
  { title: 'scopes', of: ({ scopes }) => scopes.join(',') },
  { title: 'created', of: ({ created_at: at }) => when(at) },
  { title: 'expires', of: ({ expires_at: at }) => when(at) },
  { title: 'revoked', of: ({ revoked_at: at }) => when(at) },
];
