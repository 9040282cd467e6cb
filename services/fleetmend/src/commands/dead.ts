import { InvalidArgumentError, type Command } from 'commander';
import type { DeadListOptions } from '../dead/list.js';
import type { RedriveOptions } from '../dead/redrive.js';
import type { Finish } from '../exit-codes.js';
import { example, integer, withFormat } from './options.js';

const MOST = 1_000_000;

export function registerDead(program: Command, finish: Finish): void {
  const dead = program.command('dead').description('messages that could never succeed, with the reason');
  example(
    withFormat(dead.command('list').description('dead letters, oldest first'))
      .option('--consumer <name>', 'only of this consumer, for example scoring-turns')
      .option('--limit <n>', 'at most this many', integer(1, MOST), 1_000)
      .option('--payload', 'with the beginning of each message')
      .action(async (options: DeadListOptions) => (await import('../dead/list.js')).listDead(options)),
    'fleetmend dead list --consumer scoring-turns --payload',
  );
  example(
    withFormat(
      dead.command('redrive').description('send dead letters where they came from; each once, however often it is asked for'),
    )
      .argument('[sequence...]', 'as `dead list` shows them', sequences)
      .option('--all', 'every letter that was not redriven yet')
      .option('--consumer <name>', 'with --all: only of this consumer')
      .action(async (given: number[] | undefined, options: RedriveOptions) => {
        const { redriveDead } = await import('../dead/redrive.js');
        finish(await redriveDead(given ?? [], options));
      }),
    'fleetmend dead redrive 17 18',
    'fleetmend dead redrive --all --consumer scoring-turns',
  );
}

function sequences(text: string, before: number[] = []): number[] {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('It has to be a number that `dead list` shows.');
  return [...before, value];
}
