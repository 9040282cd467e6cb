import { Option, type Command } from 'commander';
import type { RuleReaderSession, RuleWatch } from '#contracts';
import type { Finish } from '../exit-codes.js';
import type { SettleValidationOptions } from '../trials/settle-validation.js';
import { when } from '../output/table.js';
import { printList, type ListOptions } from './lists.js';
import { example, seconds, withGateway, withPages } from './options.js';

const WAIT_S = 60;
const WATCH_VERDICTS = ['watching', 'confirmed', 'stale', 'harmful', 'stopped'];

/** What is under way with rules on trial and under watch. */
export function registerValidation(program: Command, finish: Finish): void {
  example(
    withGateway(program.command('settle-validation'))
      .description('waits until no candidate is both undecided and being decided; exit code 1 when time runs out before')
      .option('--timeout <seconds>', 'seconds to wait', seconds, WAIT_S)
      .action(async (options: SettleValidationOptions) => {
        const { settleValidation } = await import('../trials/settle-validation.js');
        finish(await settleValidation(options));
      }),
    'fleetmend settle-validation --timeout 120',
  );
  example(
    withPages(withGateway(program.command('watches')))
      .description('promoted rules that some sessions do not see, and whether they still help (docs/evidence.md)')
      .addOption(new Option('--verdict <verdict>', 'only these; stale ones show no effect any more').choices(WATCH_VERDICTS))
      .action((options: ListOptions) =>
        printList<RuleWatch>(
          { path: '/v1/watches', filters: ['verdict'], none: 'no rule is under watch', columns: () => watchColumns },
          options,
        ),
      ),
    'fleetmend watches --verdict stale',
  );
  example(
    withPages(withGateway(program.command('readers')))
      .argument('<rule>', 'id of a rule')
      .description('the sessions that were shown a rule, and how they stand')
      .action((id: string, options: ListOptions) =>
        printList<RuleReaderSession>(
          {
            path: `/v1/rules/inventory/${encodeURIComponent(id)}/readers`,
            filters: [],
            none: 'no session was shown it',
            columns: () => readerColumns,
          },
          options,
        ),
      ),
    'fleetmend readers r-0198c2',
  );
}

const rate = ({ sessions, breached }: { readonly sessions: number; readonly breached: number }): string =>
  `${breached}/${sessions}`;

const watchColumns = [
  { title: 'rule', of: ({ rule_id: id }: RuleWatch) => id },
  { title: 'scope', of: ({ scope }: RuleWatch) => scope },
  { title: 'began', of: ({ started_at: at }: RuleWatch) => when(at) },
  { title: 'breached with it', of: ({ sessions }: RuleWatch) => rate(sessions.treatment), right: true },
  { title: 'without', of: ({ sessions }: RuleWatch) => rate(sessions.control), right: true },
  { title: 'verdict', of: ({ verdict }: RuleWatch) => verdict },
];

const OUTCOMES: Readonly<Record<string, string>> = { 0: 'clear', 1: 'breached' };

const readerColumns = [
  { title: 'session', of: ({ session_id: id }: RuleReaderSession) => id },
  { title: 'first read', of: ({ first_read_at: at }: RuleReaderSession) => when(at) },
  { title: 'reads', of: ({ reads }: RuleReaderSession) => reads, right: true },
  { title: 'outcome', of: ({ outcome }: RuleReaderSession) => (outcome === null ? '' : (OUTCOMES[outcome] ?? '')) },
  { title: 'alerting', of: ({ alerting }: RuleReaderSession) => (alerting ? 'yes' : '') },
];
