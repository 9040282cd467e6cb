import { Option, type Command } from 'commander';
import type { ApiKey, CreatedKey } from '#contracts';
import type { Finish } from '../program.js';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import { printList, type ListOptions } from './lists.js';
import { example, names, withGateway, withPages } from './options.js';

type KeyOptions = GatewayOptions & FormatOption;
type CreateOptions = KeyOptions & {
  readonly name: string;
  readonly scopes: string[];
  readonly expires?: string;
  readonly project?: string;
};

export function registerKeys(program: Command, _finish: Finish): void {
  const keys = program.command('keys').description('API keys of the project');
  example(
    withGateway(keys.command('create').description('a new key; its text is shown this once'))
      .option('--name <name>', 'what it is for', 'command line')
      .addOption(
        new Option('--scopes <list>', 'of ingest, rules:read, observe, operate, separated by commas')
          .argParser(names)
          .makeOptionMandatory(),
      )
      .option('--expires <time>', 'end of its life (RFC 3339); without it, until it is revoked')
      .option('--project <project>', 'another project than the own one: only while no key exists at all')
      .action(createKey),
    'fleetmend keys create --name ci --scopes ingest,observe',
  );
  example(
    withPages(withGateway(keys.command('list').description('keys, newest first, revoked ones too, without their text'))).action(
      (options: ListOptions) => listKeys(options),
    ),
    'fleetmend keys list',
  );
  example(
    withGateway(keys.command('revoke').description('end a key on every gateway within a second'))
      .argument('<id>', 'the id that `keys list` shows')
      .action(revokeKey),
    'fleetmend keys revoke k-0123456789ab',
  );
}

async function createKey({ name, scopes, expires, project, ...options }: CreateOptions): Promise<void> {
  const { gateway, answer } = await tools(options);
  const body = {
    name,
    scopes,
    ...(expires === undefined ? {} : { expires_at: expires }),
    ...(project === undefined ? {} : { project }),
  };
  const created = await gateway.call<CreatedKey>('POST', '/v1/keys', body);
  await answer(created, options, ({ key, id, notes }) => [key, `id ${id}; the key is shown this once`, ...notes].join('\n'));
}

function listKeys(options: ListOptions): Promise<void> {
  return printList<ApiKey>(
    {
      path: '/v1/keys',
      filters: [],
      none: 'no keys: on this machine the gateway may be used without one',
      columns: (when) => [
        { title: 'id', of: ({ id }) => id },
        { title: 'name', of: ({ name }) => name },
        { title: 'scopes', of: ({ scopes }) => scopes.join(',') },
        { title: 'created', of: ({ created_at: at }) => when(at) },
        { title: 'expires', of: ({ expires_at: at }) => when(at) },
        { title: 'revoked', of: ({ revoked_at: at }) => when(at) },
      ],
    },
    options,
  );
}

async function revokeKey(id: string, options: KeyOptions): Promise<void> {
  const { gateway, answer } = await tools(options);
  const key = await gateway.call<ApiKey>('DELETE', `/v1/keys/${encodeURIComponent(id)}`);
  await answer(key, options, ({ name }) => `the key "${name}" (${id}) is revoked`);
}

async function tools(options: KeyOptions) {
  const [{ openGateway }, { answer }] = await Promise.all([import('../http/gateway.js'), import('../output/answer.js')]);
  return { gateway: await openGateway(options), answer };
}
