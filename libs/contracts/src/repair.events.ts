import { z } from 'zod';
import { defineEvent } from './event.js';

/** How a repair run ends. The last three acknowledge nothing: the notices stay pending. */
export const repairStatuses = [
  'candidate_added',
  'duplicate',
  'already_covered',
  'no_proposal',
  'unactionable',
  'timed_out',
  'failed',
  'cancelled',
] as const;
export type RepairStatus = (typeof repairStatuses)[number];

/** Those that acknowledge the notices of their episode. */
export const resolvingStatuses = ['candidate_added', 'duplicate', 'already_covered', 'no_proposal', 'unactionable'] as const;
export type ResolvingStatus = (typeof resolvingStatuses)[number];

export const repairUsage = z.object({
  calls: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  /** US dollars; null when tokens were spent on a model without a price. */
  cost_usd: z.number().nullable(),
  notes: z.array(z.string()),
});

/** What one run did. Times are microseconds since the epoch, by the database's clock. */
export const repairResult = z.object({
  episode_id: z.string(),
  incident_id: z.string(),
  session_id: z.string(),
  turn_index: z.int().min(0),
  notice_ids: z.array(z.string()),
  /** Counted per episode, from 1; 0 for an episode without a run of its own, which took the end of `decided_by`. */
  run: z.int().min(0),
  status: z.enum(repairStatuses),
  /** The rule of this episode, whether this run wrote it or an earlier one. */
  candidate_rule_id: z.string().nullable(),
  existing_rule_id: z.string().nullable(),
  recommended_scope: z.string().nullable(),
  selected_scope: z.string().nullable(),
  scope_rationale: z.string().nullable(),
  considered_rule_ids: z.array(z.string()),
  suppression_reason: z.string().nullable(),
  /** Why it did not resolve: `turn_limit`, `token_limit`, `empty_response`, or a kind of trouble with the provider. */
  error_category: z.string().nullable(),
  note: z.string().nullable(),
  turns: z.int().min(0),
  tool_calls: z.int().min(0),
  usage: repairUsage,
  /** Null when no model was asked: the episode takes the end of its incident. */
  model: z.string().nullable(),
  /** The episode whose run decided this one too; null for its own. */
  decided_by: z.string().nullable(),
  started_at: z.int(),
  ended_at: z.int(),
});
export type RepairResult = z.output<typeof repairResult>;

export const episodeSettled = defineEvent({
  type: 'episode.settled',
  stream: 'FM_NOTICES',
  summary:
    'A repair run ended, with what came of it. After `timed_out`, `failed` and `cancelled` the episode waits for another run.',
  publishers: ['repair'],
  audience: 'outside',
  tail: ['status'],
  schema: repairResult,
});

/** The instrumentation scope of the spans of our own repairs. Whoever reads spans leaves them out: a repair is never scored. */
export const REPAIR_TRACE_SCOPE = 'fleetmend.repair';
