import { Option, type Command } from 'commander';
import type { CreateKeyOptions, KeyListOptions, KeyOptions } from '../keys/run-keys.js';
import { example, names, withGateway, withPages } from './options.js';

const WHERE = 'without --key and --url, and where DATABASE_URL is known or `fleetmend up` runs here, directly in the database';

export function registerKeys(program: Command): void {
  const keys = program.command('keys').description('API keys of a project');
  const project = new Option('--project <project>', 'in the database: of this project (default: default)');
  example(
    withGateway(keys.command('create').description(`a new key; its text is shown this once (${WHERE})`))
      .option('--name <name>', 'what it is for', 'command line')
      .addOption(
        new Option('--scopes <list>', 'of ingest, rules:read, observe, operate, separated by commas')
          .argParser(names)
          .makeOptionMandatory(),
      )
      .option('--expires <time>', 'end of its life (RFC 3339); without it, until it is revoked')
      .addOption(project)
      .action(async (options: CreateKeyOptions) => (await import('../keys/run-keys.js')).createKey(options)),
    'fleetmend keys create --name ci --scopes ingest,observe',
  );
  example(
    withPages(withGateway(keys.command('list').description('keys, newest first, revoked ones too, without their text')))
      .addOption(project)
      .action(async (options: KeyListOptions) => (await import('../keys/run-keys.js')).listKeys(options)),
    'fleetmend keys list',
  );
  example(
    withGateway(keys.command('revoke').description('end a key on every gateway within a second'))
      .argument('<id>', 'the id that `keys list` shows')
      .addOption(project)
      .action(async (id: string, options: KeyOptions) => (await import('../keys/run-keys.js')).revokeKey(id, options)),
    'fleetmend keys revoke k-0123456789ab',
  );
}
