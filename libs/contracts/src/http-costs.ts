import { z } from 'zod';
import { timeInput } from './turn.js';

/** What costs can be grouped by. */
export const costDimensions = ['day', 'metric', 'tier', 'model', 'session'] as const;
export type CostDimension = (typeof costDimensions)[number];

/** Groups that one answer has at most; the others are summed. */
export const MAX_COST_GROUPS = 200;
/** Longest period: what is read for it grows with its turns. */
export const MAX_COST_DAYS = 92;

const DEFAULT_BY = 'metric,tier,model';

function named(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  return [...new Set(names)].filter((name) => name !== '');
}

const isDimension = (name: string): name is CostDimension => (costDimensions as readonly string[]).includes(name);

const dimensionList = z
  .string()
  .max(200)
  .refine((text) => named(text).every(isDimension) && named(text).length > 0, {
    error: ({ input }) => {
      const unknown = named(String(input)).filter((name) => !isDimension(name));
      return `${unknown.length > 0 ? `${unknown.join(', ')}: not known` : 'names nothing'}; known are ${costDimensions.join(', ')}`;
    },
  });

/** The dimensions that a valid `by` names, each once. */
export function costDimensionsOf(by: string): CostDimension[] {
  return named(by).filter(isDimension);
}

export const costsQuery = z.strictObject({
  since: timeInput
    .optional()
    .describe(
      'From the UTC day of this time on (2026-11-24, RFC 3339, or a number of s, ms, us or ns); default: 7 days before `until`.',
    ),
  until: timeInput
    .optional()
    .describe('Days before this time; a part of a day counts as the whole day. Default: today included.'),
  by: dimensionList.default(DEFAULT_BY).describe(`Groups: a comma list of ${costDimensions.join(', ')}.`),
});

export const costSums = z.object({
  /** Attempts at a value for which a model was called, whether a value came of them or not. */
  evals: z.int(),
  calls: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  /** US dollars, without the calls that have no price. */
  cost_usd: z.number(),
  unpriced_calls: z.int(),
});
export type CostSums = z.output<typeof costSums>;

/** Has the members that `by` asked for. `session_id` is null when the session is not known any more. */
export const costGroup = costSums.extend({
  day: z.string().optional(),
  metric: z.string().optional(),
  tier: z.int().optional(),
  model: z.string().optional(),
  session_id: z.string().nullable().optional(),
});
export type CostGroup = z.output<typeof costGroup>;

const share = z.number().nullable();

/** One metric: what it took, and what it would have taken on every admitted turn. */
export const ladderMetric = z.object({
  metric: z.string(),
  tiers: z.array(z.int()),
  evals: z.int(),
  calls: z.int(),
  /** Dollars are null when some of its calls have no price. */
  cost_usd: z.number().nullable(),
  /** Of one evaluation. */
  mean_calls: z.number(),
  mean_usd: z.number().nullable(),
  everywhere_calls: z.number(),
  everywhere_usd: z.number().nullable(),
  /** 1 - actual / everywhere. */
  saved_calls: share,
  saved_usd: share,
});
export type LadderMetric = z.output<typeof ladderMetric>;

/** What the tiers saved against running every metric on every admitted turn; docs/costs.md has the formula. */
export const ladder = z.object({
  admitted_turns: z.int(),
  /** Most calls first. */
  metrics: z.array(ladderMetric),
  calls: z.int(),
  everywhere_calls: z.number(),
  /** From 0 to 1; null when nothing was asked. */
  saved_calls: share,
  /** Dollars leave `unpriced` metrics out. */
  cost_usd: z.number(),
  everywhere_usd: z.number(),
  saved_usd: share,
  /** Metrics of the tiers that no model was asked for: they count nowhere. */
  unmeasured: z.array(z.string()),
  unpriced: z.array(z.string()),
});
export type Ladder = z.output<typeof ladder>;

export const budget = z.object({
  /** The UTC day that `spent_usd` is of. */
  day: z.string(),
  /** 0: no limit. */
  max_cost_usd: z.number(),
  spent_usd: z.number(),
  /** What jobs in hand may still cost at most. Nothing is reserved without a limit. */
  reserved_usd: z.number(),
  /** 0: no limit. */
  max_evals: z.int(),
  /** Turns in the window, which begins with a turn; all null while none is open. Counted only while some limit or pace is set. */
  admitted: z.int().nullable(),
  skipped: z.int().nullable(),
  /** Microseconds since the epoch. */
  window_start: z.int().nullable(),
  window_end: z.int().nullable(),
});

export const costs = z.object({
  /** UTC days; `until` is the first one that is not in it. */
  since: z.string(),
  until: z.string(),
  by: z.array(z.enum(costDimensions)),
  totals: costSums,
  /** Costliest first, then by calls; 200 at most. */
  groups: z.array(costGroup),
  /** The sum of the groups that are not shown, and how many they are; null when all are shown. */
  others: costSums.extend({ groups: z.int() }).nullable(),
  /** Turns accepted in the period. `skipped` by reason: `budget`, `sampling`, `rate`. */
  turns: z.object({ admitted: z.int(), skipped: z.record(z.string(), z.int()) }),
  budget,
  ladder,
});
export type Costs = z.output<typeof costs>;
