import type { Command } from 'commander';
import type { Notice } from '#contracts';
import type { WatchOptions } from '../http/watch.js';
import { printList, type ListOptions } from './lists.js';
import { example, integer, withGateway, withPages } from './options.js';

export function registerNotices(program: Command): void {
  const notices = program.command('notices').description('what was found: each problem of a session once');
  example(
    withPages(withGateway(notices.command('list').description('notices, newest first; suppressed and shadow ones too')))
      .option('--session <id>', 'only of this session')
      .option('--severity <severity>', 'only trend, breach or needs_human')
      .option('--status <status>', 'only pending, acknowledged, corrected, suppressed or shadow')
      .option('--since <time>', 'posted at or after this time')
      .action(async (options: ListOptions) => {
        const { noticeColumns } = await import('../output/trajectory.js');
        const filters = ['session', 'severity', 'status', 'since'];
        await printList<Notice>({ path: '/v1/notices', filters, none: 'no notices', columns: () => noticeColumns }, options);
      }),
    'fleetmend notices list --severity breach',
  );
  example(
    withGateway(notices.command('watch').description('notices, recoveries and the breaker as they happen, one line each'))
      .option('--count <n>', 'end after this many', integer(1))
      .option('--last-event-id <notice>', 'begin after this notice')
      .action(async (options: WatchOptions) => (await import('../http/watch.js')).watchNotices(options)),
    'fleetmend notices watch',
  );
}
