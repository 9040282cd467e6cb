import { z } from 'zod';
import { defineEvent } from './event.js';

export const tierNumber = z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]);
export const scoreStatuses = ['scored', 'pending', 'failed', 'not_applicable'] as const;

/** One metric's value for one trace. Only `scored` has a value; missing evidence is neither a perfect score nor a breach. */
export const score = z.object({
  metric: z.string(),
  trace_id: z.string().nullable(),
  status: z.enum(scoreStatuses),
  value: z.number().nullable(),
  /** Where the value comes from: `check`, `lexical`, `judge`, `embedding`, `verifier`. Gate settings are per metric and source. */
  source: z.string(),
  evaluator: z.string(),
  reason: z.string().nullable(),
  code: z.string().nullable(),
  /** Spans that lowered the value. */
  spans: z.array(z.string()),
});
export type Score = z.output<typeof score>;

/** What a trace shows that helps to recognise the same fault elsewhere; part of an incident's fingerprint. */
export const traceSignal = z.object({ trace_id: z.string(), failing_tools: z.array(z.string()), error: z.string().nullable() });
export type TraceSignal = z.output<typeof traceSignal>;

export const traceScored = defineEvent({
  type: 'trace.scored',
  stream: 'FM_SCORES',
  summary: 'The scores of one tier of one turn. A higher answer of the same tier replaces the lower ones.',
  publishers: ['scoring'],
  audience: 'services',
  tail: [],
  schema: z.object({
    session_id: z.string(),
    turn_index: z.int().min(0),
    tier: tierNumber,
    answer: z.int().min(1),
    accepted_at: z.int(),
    config: z.string(),
    scores: z.array(score),
    signals: z.array(traceSignal),
    /** Scores still asked for: the answer is complete when none is. */
    pending: z.boolean(),
    /** Named traces never came; scored on what was there. */
    partial: z.boolean(),
    skipped: z.string().nullable(),
  }),
});
export type TraceScored = z.output<typeof traceScored.schema>;

export const tierRequested = defineEvent({
  type: 'tier.requested',
  stream: 'FM_SCORES',
  summary: 'The gate asks for the scores of a costlier tier for one turn, once.',
  publishers: ['gating', 'validation'],
  audience: 'services',
  tail: [],
  schema: z.object({ session_id: z.string(), turn_index: z.int().min(0), tier: tierNumber }),
});
export type TierRequested = z.output<typeof tierRequested.schema>;
