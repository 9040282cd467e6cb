import type { Command } from 'commander';
import type { KnownMetric, KnownMetrics } from '#contracts';
import type { GatewayOptions } from '../http/gateway.js';
import type { FormatOption } from '../output/answer.js';
import type { Column } from '../output/table.js';
import { example, withGateway } from './options.js';

type MetricsOptions = GatewayOptions & FormatOption;

export function registerMetrics(program: Command): void {
  const metrics = program.command('metrics').description('metrics of the project');
  example(
    withGateway(metrics.command('list'))
      .description(
        'every metric that the project knows: who makes its values now, with which settings, and why where nobody does',
      )
      .action(async (options: MetricsOptions) => {
        const [{ openGateway }, { answer, listed }] = await Promise.all([
          import('../http/gateway.js'),
          import('../output/answer.js'),
        ]);
        const known = await (await openGateway(options)).get<KnownMetrics>('/v1/metrics');
        await answer(known, options, ({ items }) => listed(items, columns, 'no metrics'));
      }),
    'fleetmend metrics list',
  );
}

const columns: readonly Column<KnownMetric>[] = [
  { title: 'metric', of: ({ metric, registered }) => (registered ? `${metric} (own)` : metric) },
  { title: 'tier', of: ({ tiers }) => tiers.join(',') },
  { title: 'measured', of: ({ measured }) => (measured ? 'yes' : 'no') },
  { title: 'by', of: byWhom },
  { title: 'source', of: ({ source }) => source ?? '' },
  { title: 'threshold', of: ({ threshold, breaches }) => `${threshold}${breaches ? '' : ' (shown)'}`, right: true },
  { title: 'gate', of: gateText },
  { title: 'note', of: ({ note }) => note ?? '' },
];

function byWhom({ evaluator, model, host_first: hostFirst }: KnownMetric): string {
  const maker = [evaluator ?? 'nobody', ...(model === null ? [] : [model])].join(' ');
  return hostFirst && evaluator !== 'host' ? `host, else ${maker}` : maker;
}

function gateText({ gate }: KnownMetric): string {
  if (gate === null) return '';
  const { gate_window: window, gate_target: target, gate_gain: gain, gate_drop: drop, may_fire: mayFire } = gate;
  return `window ${window}, target ${target}, gain ${gain}, drop ${drop}${mayFire ? '' : ', silent'}`;
}
