import type { Command } from 'commander';
import type { SettleAnswer } from '#contracts';
import type { Finish } from '../exit-codes.js';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import { example, integer, withGateway } from './options.js';

type SettleOptions = GatewayOptions & FormatOption & { readonly turn?: number; readonly timeout?: number };

/** A connection that has said nothing for five minutes is given up by the program's HTTP client. */
const LONGEST_S = 290;

export function registerSettle(program: Command, finish: Finish): void {
  const command = withGateway(program.command('settle'))
    .description('wait until the loop is done with a turn: its report, its notices, and one repair (docs/settlement.md)')
    .argument('<session>', 'a session')
    .option('--turn <n>', 'a turn (default: the newest that is stored)', integer(0))
    .option(
      '--timeout <s>',
      `seconds to wait, ${LONGEST_S} at most (default: barrier_timeout_s of the project)`,
      integer(0, LONGEST_S),
    )
    .action(async (session: string, options: SettleOptions) => {
      const settled = await settle(session, options);
      const [{ answer }, { settledText }] = await Promise.all([import('../output/answer.js'), import('../rules/text.js')]);
      await answer(settled, options, settledText);
      const { exitCodes } = await import('../exit-codes.js');
      if (settled.timed_out) finish(exitCodes.finding);
    });
  example(command, 'fleetmend settle support-42 --turn 3 --timeout 60');
}

async function settle(session: string, { turn, timeout, ...options }: SettleOptions): Promise<SettleAnswer> {
  const { openGateway } = await import('../http/gateway.js');
  const path = `/v1/sessions/${encodeURIComponent(session)}/settle`;
  return (await openGateway(options)).call<SettleAnswer>('POST', path, { turn_index: turn, timeout_s: timeout });
}
