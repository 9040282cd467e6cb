import { Option, type Command } from 'commander';
import type { SessionSummary, SessionTrajectory } from '#contracts';
import { printList, type ListOptions } from './lists.js';
import { example, integer, withGateway, withPages } from './options.js';

export function registerSessions(program: Command): void {
  const command = withPages(withGateway(program.command('sessions')))
    .description('sessions, newest first; with an id its turns, scores, firings and notices')
    .argument('[id]', 'a session')
    .option('--agent <id>', 'only of this agent')
    .addOption(
      new Option('--alerting <yes>', 'only with (true) or without (false) a standing problem').choices(['true', 'false']),
    )
    .option('--q <text>', 'only ids that begin so')
    .option('--before <turn>', 'with an id: only turns before this one', integer(0))
    .action((id: string | undefined, options: ListOptions) => (id === undefined ? list(options) : show(id, options)));
  example(command, 'fleetmend sessions --alerting true', 'fleetmend sessions support-42');
}

function list(options: ListOptions): Promise<void> {
  return printList<SessionSummary>(
    {
      path: '/v1/sessions',
      filters: ['agent', 'alerting', 'q'],
      none: 'no sessions yet',
      columns: (when) => [
        { title: 'session', of: ({ session_id: id }) => id },
        { title: 'agent', of: ({ agent }) => agent ?? '' },
        { title: 'last turn', of: ({ last_turn_index: turn }) => turn ?? '', right: true },
        { title: 'at', of: ({ last_accepted_at: at }) => when(at) },
        { title: 'stands', of: ({ standing }) => standing.join(', ') },
      ],
    },
    options,
  );
}

async function show(id: string, options: ListOptions): Promise<void> {
  const [{ openGateway }, { answer }, { trajectoryText }] = await Promise.all([
    import('../http/gateway.js'),
    import('../output/answer.js'),
    import('../output/trajectory.js'),
  ]);
  const gateway = await openGateway(options);
  const query = { limit: options.limit, before: options['before'] as number | undefined };
  const session = await gateway.get<SessionTrajectory>(`/v1/sessions/${encodeURIComponent(id)}`, query);
  await answer(session, options, trajectoryText);
}
