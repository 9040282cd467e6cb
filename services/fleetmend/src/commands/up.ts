import { Option, type Command } from 'commander';
import type { Finish } from '../exit-codes.js';
import type { UpOptions } from '../up/run-up.js';
import { example, withFormat } from './options.js';
import { withRecordings } from './turns.js';

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

export function registerUp(program: Command, finish: Finish): void {
  const command = withRecordings(withFormat(program.command('up')))
    .description(
      'start everything in one process: NATS, Postgres, all services; import recordings, or play a sample the first time',
    )
    .option('--import <file...>', 'recorded conversations to import first (as `turns import` reads them)')
    .option('--no-sample', 'do not play the sample when nothing is stored yet')
    .option('--exit-after-import', 'end after the import or the sample')
    .option('--key <key>', 'API key to import with, once keys exist (default: FLEETMEND_KEY)')
    .addOption(new Option('--log-level <level>', 'what the services say (default: log_level, else warn)').choices(LEVELS))
    .action(async (options: UpOptions) => {
      const { runUp } = await import('../up/run-up.js');
      finish(await runUp(options));
    });
  example(command, 'fleetmend up', 'fleetmend up --import conversations.jsonl --tools tools.json');
}
