import type { CostGroup, Costs, CostSums } from '#contracts';
import { table, when, type Column } from '../output/table.js';

/** The costs of a period for people. */
export function costsText(costs: Costs): string {
  return [headText(costs), groupsText(costs), ladderText(costs), budgetText(costs)].join('\n\n');
}

function headText({ since, until, totals, turns }: Costs): string {
  const skipped = Object.entries(turns.skipped).map(([reason, count]) => `${count} by ${reason}`);
  return [
    `${since} to ${dayBefore(until)} (UTC): ${usd(totals.cost_usd)} for ${totals.calls} calls, ${totals.tokens_in} tokens in, ${totals.tokens_out} out${unpricedText(totals)}`,
    `${turns.admitted} turns admitted, ${skipped.length === 0 ? 'none skipped' : `skipped: ${skipped.join(', ')}`}`,
  ].join('\n');
}

function unpricedText({ unpriced_calls: calls }: CostSums): string {
  return calls === 0 ? '' : `; ${calls} of them have no price (model_prices) and are not in the dollars`;
}

type Row = CostGroup & { readonly title?: string };

function groupsText({ by, groups, others }: Costs): string {
  if (groups.length === 0) return 'no model was called';
  const rows: Row[] = [...groups, ...(others === null ? [] : [{ ...others, title: `${others.groups} others` }])];
  const names = by.map((name, at): Column<Row> => ({
    title: name,
    of: (row) => (at === 0 ? row.title : undefined) ?? (name === 'session' ? row.session_id : row[name]) ?? '',
  }));
  return table(rows, [
    ...names,
    { title: 'evals', of: ({ evals }) => evals, right: true },
    { title: 'calls', of: ({ calls }) => calls, right: true },
    { title: 'tokens in', of: ({ tokens_in: tokens }) => tokens, right: true },
    { title: 'out', of: ({ tokens_out: tokens }) => tokens, right: true },
    { title: 'USD', of: priceOf, right: true },
  ]);
}

function priceOf({ cost_usd: cost, calls, unpriced_calls: unpriced }: CostSums): string {
  if (unpriced === calls) return 'no price';
  return unpriced === 0 ? usd(cost) : `${usd(cost)} + ?`;
}

function ladderText({ ladder }: Costs): string {
  const { metrics, saved_calls: calls, saved_usd: dollars, unmeasured, unpriced } = ladder;
  if (metrics.length === 0) return 'The tiers saved: unknown, since no model was asked for any metric.';
  const lines = [
    `The tiers saved ${share(calls)} of the calls${dollars === null ? '' : ` and ${share(dollars)} of the dollars`} of running every metric on every admitted turn:`,
    table(metrics, [
      { title: 'metric', of: ({ metric }) => metric },
      { title: 'tier', of: ({ tiers }) => tiers.join(',') },
      { title: 'evals', of: ({ evals }) => evals, right: true },
      { title: 'calls', of: ({ calls: own }) => own, right: true },
      { title: 'on every turn', of: ({ everywhere_calls: own }) => Math.round(own), right: true },
      { title: 'saved', of: ({ saved_calls: own }) => share(own), right: true },
      { title: 'USD', of: ({ cost_usd: own }) => (own === null ? 'no price' : usd(own)), right: true },
      { title: 'on every turn', of: ({ everywhere_usd: own }) => (own === null ? '' : usd(own)), right: true },
    ]),
    ...(unmeasured.length === 0 ? [] : [`Left out, since no model was asked for them: ${unmeasured.join(', ')}.`]),
    ...(unpriced.length === 0 ? [] : [`Left out of the dollars, since calls have no price: ${unpriced.join(', ')}.`]),
  ];
  return lines.join('\n');
}

function budgetText({ budget }: Costs): string {
  const { day, max_cost_usd: most, spent_usd: spent, reserved_usd: reserved, max_evals: evals } = budget;
  const limit = most === 0 ? 'no limit (max_cost_usd)' : `of ${usd(most)}, ${usd(reserved)} reserved for jobs in hand`;
  const lines = [`Budget of ${day} (UTC): ${usd(spent)} spent, ${limit}`];
  if (evals > 0) {
    const window = budget.admitted === null ? 'no window is open' : windowText(budget);
    lines.push(`Budget of turns: ${budget.admitted ?? 0} of ${evals} admitted; ${window}`);
  }
  return lines.join('\n');
}

function windowText({ window_start: start, window_end: end, skipped }: Costs['budget']): string {
  return `${skipped ?? 0} skipped by it; window ${when(start)} to ${when(end)}`;
}

const DAY_MS = 86_400_000;

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
}

/** Small amounts need more digits than large ones. */
function usd(amount: number): string {
  return `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 1 ? 4 : 2)}`;
}

function share(value: number | null): string {
  return value === null ? '' : `${(value * 100).toFixed(1)} %`;
}
