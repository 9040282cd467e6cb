import { z } from 'zod';

const gate = z.object({
  gate_window: z.number(),
  gate_target: z.number(),
  gate_gain: z.number(),
  gate_drop: z.number(),
  /** Whether values of this source may fire at all: lexical and unscaled similarities may not until a target is set for them. */
  may_fire: z.boolean(),
});

/** A metric that the project knows, as its settings are now: they hold from the next turn on. */
export const knownMetric = z.object({
  metric: z.string(),
  registered: z.boolean().describe('Whether the project registered it; else it is built in.'),
  /** 0: whenever a verifier answers. 1: every trace. 2: when the gate fired. 3: after a breach. Empty: none asks for it. */
  tiers: z.array(z.int()),
  /** `check`, `judge`, `embedding`, `webhook`, `responder`, `host`, `verifier`; null: nobody. */
  evaluator: z.string().nullable(),
  /** A value that the host sends is taken instead of the evaluator's. */
  host_first: z.boolean(),
  /** What its values are of: gate settings are per metric and source. */
  source: z.string().nullable(),
  model: z.string().nullable(),
  threshold: z.number(),
  /** Whether a value below the threshold is a breach. */
  breaches: z.boolean(),
  /** Null when its values do not go through the gate. */
  gate: gate.nullable(),
  measured: z.boolean(),
  /** Why it is not measured, or on what its values depend. */
  note: z.string().nullable(),
});
export type KnownMetric = z.output<typeof knownMetric>;

export const knownMetrics = z.object({ items: z.array(knownMetric) });
export type KnownMetrics = z.output<typeof knownMetrics>;
