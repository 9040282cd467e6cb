import { z } from 'zod';
import { defineEvent } from './event.js';
import { conditions } from './metrics.js';
import { score, tierNumber, traceSignal } from './scoring.events.js';

export const severities = ['trend', 'breach', 'needs_human'] as const;
export type Severity = (typeof severities)[number];

export const reportScore = score.extend({
  tier: tierNumber,
  threshold: z.number().nullable(),
  /** Conditions that this score fired, in the order breach, stall, regression. */
  conditions: z.array(z.enum(conditions)),
});
export type ReportScore = z.output<typeof reportScore>;

/** Everything the loop found out about one turn. Readers keep the highest revision. */
export const report = z.object({
  session_id: z.string(),
  turn_index: z.int().min(0),
  revision: z.int().min(1),
  accepted_at: z.int(),
  /** No score of an asked tier is pending. */
  complete: z.boolean(),
  partial: z.boolean(),
  skipped: z.string().nullable(),
  severity: z.enum(['trend', 'breach']).nullable(),
  /** The standing set: every problem that holds after this turn, sorted. */
  signatures: z.array(z.string()),
  /** Those of them that this turn fired, sorted. */
  fired: z.array(z.string()),
  flagged_traces: z.array(z.string()),
  scores: z.array(reportScore),
  signals: z.array(traceSignal),
});
export type Report = z.output<typeof report>;

export const turnEvaluated = defineEvent({
  type: 'turn.evaluated',
  stream: 'FM_REPORTS',
  summary: "A turn's report; published again, whole, with the next revision when it changes.",
  publishers: ['gating'],
  audience: 'outside',
  tail: [],
  schema: report.extend({
    /** The first turn whose report changed together with this one. Readers of the session's history start there. */
    changed_from: z.int().min(0).optional(),
  }),
});
