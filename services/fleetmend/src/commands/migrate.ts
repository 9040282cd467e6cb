import type { Command } from 'commander';
import type { FormatOption } from '../output/answer.js';
import { example, integer, withFormat } from './options.js';

type MigrateOptions = FormatOption & { readonly replicas: number };

const MOST_REPLICAS = 5;

export function registerMigrate(program: Command): void {
  example(
    withFormat(program.command('migrate'))
      .description('bring schema, streams and consumers up to date (`up` does it by itself); several at once are safe')
      .option('--replicas <n>', 'copies of each stream: 1 on one server, 3 on a cluster', integer(1, MOST_REPLICAS), 1)
      .action(async (options: MigrateOptions) => (await import('../migrate.js')).migrateAll(options)),
    'NATS_URL=nats://broker:4222 DATABASE_URL=postgresql://owner:…@db/fleetmend fleetmend migrate',
  );
}
