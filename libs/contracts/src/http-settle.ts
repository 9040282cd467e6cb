import { z } from 'zod';
import { report } from './gating.events.js';
import { pageQuery, sessionIdText } from './http.js';
import { repairResult } from './repair.events.js';
import { tierNumber } from './scoring.events.js';

/** An hour: whoever wants to wait longer asks again. */
const MAX_SETTLE_S = 3_600;

/**
 * What a turn can wait for. Of its own: `turn` (it is not stored yet), `report`, `notices`, `repair`. Of an episode, for what may take
 * long: `backoff` (after a failed run), `hourly_limit`, `cost_limit`, `observe_only`, `model` (none is set), `operator`,
 * `no_repair_service` (nobody has taken it up).
 */
export const waitsFor = [
  'turn',
  'report',
  'notices',
  'repair',
  'backoff',
  'hourly_limit',
  'cost_limit',
  'observe_only',
  'model',
  'operator',
  'no_repair_service',
] as const;
export type WaitsFor = (typeof waitsFor)[number];

const settleShape = {
  turn_index: z
    .int()
    .min(0)
    .nullish()
    .describe('The turn to wait for. Without one: the newest turn that is stored when the question is first looked at.'),
  timeout_s: z
    .number()
    .min(0)
    .max(MAX_SETTLE_S)
    .nullish()
    .describe('Seconds to wait at most; default: `barrier_timeout_s` of the project.'),
};
/** The body of `POST /v1/sessions/{id}/settle`. */
export const settleBody = z.looseObject(settleShape);
/** `rpc.settle`. */
export const settleRequest = z.looseObject({ session_id: sessionIdText, ...settleShape });
export type SettleRequest = z.input<typeof settleRequest>;

export const settleAnswer = z.object({
  session_id: z.string(),
  /** The turn that was waited for; null when none is stored. */
  turn_index: z.int().nullable(),
  /** Null when there is none: the turn was skipped, or the time was over before. */
  report: report.nullable(),
  /** Of the repair run that was waited for, or of the one that had settled the turn's episode before. */
  repair: repairResult.nullable(),
  /** The time was over first. The work goes on. */
  timed_out: z.boolean(),
  /** Why the turn was not scored. */
  skipped: z.string().nullable(),
  /** What is not done: after a time-out, what was waited for; else what an episode waits for and no one should. */
  waiting: z.enum(waitsFor).nullable(),
});
export type SettleAnswer = z.output<typeof settleAnswer>;

const pendingTurn = z.object({
  turn_index: z.int(),
  accepted_at: z.int(),
  /** `traces` that it named, `scores` of the tiers below, or the loop's own next step. */
  waits_for: z.enum(['traces', 'scores', 'report']),
  tiers_pending: z.array(tierNumber),
});
const pendingEpisode = z.object({
  id: z.string(),
  turn_index: z.int(),
  status: z.enum(['open', 'claimed']),
  waits_for: z.enum(waitsFor).nullable(),
});

/** A session in which something is in flight; the oldest 50 turns and episodes of it. */
export const pendingSession = z.object({
  session_id: z.string(),
  /** When the oldest of it began, microseconds since the epoch. */
  since: z.int(),
  turns: z.array(pendingTurn),
  episodes: z.array(pendingEpisode),
});
export type PendingSession = z.output<typeof pendingSession>;

export const pendingSessionsQuery = pageQuery.extend({ session: sessionIdText.optional() });
