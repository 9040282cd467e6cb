import type { Command } from 'commander';
import type { RegressionReport, RegressionRun } from '#contracts';
import type { Finish } from '../exit-codes.js';
import type { GatewayOptions } from '../http/gateway.js';
import type { PageOptions } from '../http/pages.js';
import type { FormatOption } from '../output/answer.js';
import type { RegressOptions } from '../regress/run-regress.js';
import { example, integer, seconds, withGateway, withPages } from './options.js';

const WAIT_S = 3_600;

export function registerRegress(program: Command, finish: Finish): void {
  const regress = program.command('regress').description('runs the eval set against the rules as they are (docs/replays.md)');
  example(
    withGateway(regress.command('run'))
      .description('replays wins first, then failures; exit code 1 when anything regressed')
      .option('--k <n>', 'runs of each case; pass^k is the share of cases of which none regressed', integer(1, 20))
      .option('--sample <n>', 'at most this many cases', integer(1))
      .option('--junit <file>', 'also writes the results as JUnit XML')
      .option('--timeout <seconds>', 'seconds to wait for the end; the run goes on after that', seconds, WAIT_S)
      .action(async (options: RegressOptions) => {
        const { runRegress } = await import('../regress/run-regress.js');
        finish(await runRegress(options));
      }),
    'fleetmend regress run --k 3 --junit regress.xml',
  );
  example(
    withPages(withGateway(regress.command('list')))
      .description('regression runs, newest first')
      .action(async ({ limit, cursor, all, ...options }: PageOptions & GatewayOptions & FormatOption) => {
        const [{ openGateway }, { readPages }, { answer }, { runsText }] = await Promise.all([
          import('../http/gateway.js'),
          import('../http/pages.js'),
          import('../output/answer.js'),
          import('../regress/text.js'),
        ]);
        const page = {
          ...(limit === undefined ? {} : { limit }),
          ...(cursor === undefined ? {} : { cursor }),
          ...(all === undefined ? {} : { all }),
        };
        const runs = await readPages<RegressionRun>(await openGateway(options), '/v1/regressions', {}, page);
        await answer(runs, options, ({ items }) => runsText(items));
      }),
    'fleetmend regress list',
  );
  example(
    withGateway(regress.command('show'))
      .argument('<id>', 'id of a run')
      .description('one run with its cases')
      .action(async (id: string, options: GatewayOptions & FormatOption) => {
        const [{ openGateway }, { answer }, { reportText }] = await Promise.all([
          import('../http/gateway.js'),
          import('../output/answer.js'),
          import('../regress/text.js'),
        ]);
        const gateway = await openGateway(options);
        await answer(await gateway.get<RegressionReport>(`/v1/regressions/${encodeURIComponent(id)}`), options, reportText);
      }),
    'fleetmend regress show g-1a2b3c4d5e6f',
  );
}
