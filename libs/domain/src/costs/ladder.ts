import type { Ladder, LadderMetric } from '#contracts';

/** What models were asked for one metric in one tier, over a period. */
export interface MetricSpending {
  readonly metric: string;
  /** 0 to 3. */
  readonly tier: number;
  /** Attempts at a value for which a model was called, whether a value came of them or not. */
  readonly evals: number;
  readonly calls: number;
  /** US dollars; calls to models without a price are in it with 0. */
  readonly cost_usd: number;
  readonly unpriced_calls: number;
}

/**
 * What the tiers saved against running every metric on every admitted turn (docs/costs.md): a metric that some tier above 1 asks
 * for would have cost its mean times `admittedTurns`, and never less than it did. A metric of tier 1 runs on every turn as it is,
 * so it saves nothing. `configured`: the metrics of all tiers.
 */
export function ladderSavings(
  spendings: readonly MetricSpending[],
  admittedTurns: number,
  configured: readonly string[],
): Ladder {
  const measured = new Map<string, MetricSpending[]>();
  for (const one of spendings) if (one.evals > 0) measured.set(one.metric, [...(measured.get(one.metric) ?? []), one]);
  const metrics = [...measured]
    .map(([metric, own]) => ladderMetric(metric, own, admittedTurns))
    .sort((a, b) => b.calls - a.calls || (a.metric < b.metric ? -1 : 1));
  const priced = metrics.filter(({ cost_usd: cost }) => cost !== null);
  const [calls, everywhereCalls] = [sum(metrics, 'calls'), sum(metrics, 'everywhere_calls')];
  const [usd, everywhereUsd] = [sum(priced, 'cost_usd'), sum(priced, 'everywhere_usd')];
  return {
    admitted_turns: admittedTurns,
    metrics,
    ...{ calls, everywhere_calls: everywhereCalls, saved_calls: savedShare(calls, everywhereCalls) },
    ...{ cost_usd: usd, everywhere_usd: everywhereUsd, saved_usd: savedShare(usd, everywhereUsd) },
    unmeasured: [...new Set(configured)].filter((metric) => !measured.has(metric)).sort(),
    unpriced: metrics.flatMap(({ metric, cost_usd: cost }) => (cost === null ? [metric] : [])),
  };
}

function ladderMetric(metric: string, own: readonly MetricSpending[], admittedTurns: number): LadderMetric {
  const [evals, calls] = [sum(own, 'evals'), sum(own, 'calls')];
  const usd = sum(own, 'unpriced_calls') > 0 ? null : sum(own, 'cost_usd');
  // Turns with several traces, and repeated attempts, make more evaluations than turns.
  const factor = own.some(({ tier }) => tier > 1) ? Math.max(1, admittedTurns / evals) : 1;
  const everywhereUsd = usd === null ? null : usd * factor;
  return {
    metric,
    tiers: [...new Set(own.map(({ tier }) => tier))].sort(),
    ...{ evals, calls, cost_usd: usd },
    ...{ mean_calls: calls / evals, mean_usd: usd === null ? null : usd / evals },
    ...{ everywhere_calls: calls * factor, everywhere_usd: everywhereUsd },
    saved_calls: savedShare(calls, calls * factor),
    saved_usd: usd === null || everywhereUsd === null ? null : savedShare(usd, everywhereUsd),
  };
}

function savedShare(actual: number, everywhere: number): number | null {
  return everywhere > 0 ? Math.max(0, 1 - actual / everywhere) : null;
}

function sum<Name extends string>(rows: readonly Readonly<Record<Name, number | null>>[], name: Name): number {
  return rows.reduce((total, row) => total + (row[name] ?? 0), 0);
}
