import { z } from 'zod';
import { severities } from './gating.events.js';
import { pageQuery, sessionIdText } from './http.js';
import { notice, noticeStatuses } from './mailbox.events.js';
import { repairResult, resolvingStatuses } from './repair.events.js';
import { score, tierNumber } from './scoring.events.js';
import { timeInput } from './turn.js';

/** Times of every answer are integer microseconds since the epoch; times of a query are whatever a turn may hold. */
const micros = z.int();

export const sessionSummary = z.object({
  session_id: z.string(),
  agent: z.string().nullable(),
  first_at: micros,
  last_turn_index: z.int().nullable(),
  last_accepted_at: micros.nullable(),
  /** A problem stands after the newest turn that was judged. */
  alerting: z.boolean(),
  /** Signatures that stand, sorted. */
  standing: z.array(z.string()),
});
export type SessionSummary = z.output<typeof sessionSummary>;

export const sessionsQuery = pageQuery.extend({
  agent: z.string().max(255).optional(),
  alerting: z.enum(['true', 'false']).optional().describe('true: only sessions with a standing problem.'),
  q: z.string().max(255).optional().describe('Beginning of the session id.'),
});

export const trajectoryTurn = z.object({
  turn_index: z.int(),
  accepted_at: micros,
  agent_version: z.string().nullable(),
  model: z.string().nullable(),
  /** Named traces never came; scored on what was there. */
  partial: z.boolean(),
  /** Named traces have not come yet. */
  waiting: z.boolean(),
  skipped: z.string().nullable(),
  /** Of its report; 0 while there is none. */
  revision: z.int(),
  fired: z.array(z.string()),
  standing: z.array(z.string()),
  scores: z.array(score.extend({ tier: tierNumber })),
});
export type TrajectoryTurn = z.output<typeof trajectoryTurn>;

/** One metric from one source, in turn order. `peak`: the best value so far by the gate's count; null when it never counted one. */
export const metricSeries = z.object({
  metric: z.string(),
  source: z.string(),
  peak: z.number().nullable(),
  points: z.array(z.object({ turn_index: z.int(), trace_id: z.string().nullable(), value: z.number() })),
});

export const trajectoryQuery = z.strictObject({
  before: z.coerce.number().int().min(0).optional().describe('Only turns before this index: `next_before` of the page after.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** The newest turns first asked, in ascending order. */
export const sessionTrajectory = sessionSummary.extend({
  turns: z.array(trajectoryTurn),
  /** Give it as `?before=` for older turns; null when there are none. */
  next_before: z.int().nullable(),
  series: z.array(metricSeries),
  notices: z.array(notice),
});
export type SessionTrajectory = z.output<typeof sessionTrajectory>;

export const noticesQuery = pageQuery.extend({
  session: sessionIdText.optional(),
  severity: z.enum(severities).optional(),
  status: z.enum(noticeStatuses).optional(),
  since: timeInput.optional(),
});

export const episode = z.object({
  id: z.string(),
  session_id: z.string(),
  turn_index: z.int(),
  incident_id: z.string(),
  notice_ids: z.array(z.string()),
  status: z.string(),
  attempt: z.int(),
  recommended_scope: z.string().nullable(),
  opened_at: micros,
  settled_at: micros.nullable(),
  /** How it ended; null while it has not. */
  outcome: z
    .object({ status: z.enum(resolvingStatuses), rule_id: z.string().nullable(), decided_by: z.string().nullable() })
    .nullable(),
  /** Where its repair is; null before the repair service knew of it. */
  work: z
    .object({
      state: z.enum(['waiting', 'running', 'blocked', 'done']),
      /** `backoff`, `hourly_limit`, `cost_limit`, `observe_only`, `model`, `operator`; null: for a free worker, or for nothing. */
      waits_for: z.string().nullable(),
      runs: z.int(),
      /** Failed runs since an operator last let it run again. */
      failures: z.int(),
      /** Not before this time; null when no run is to come. */
      next_run_at: micros.nullable(),
      last_error: z.string().nullable(),
    })
    .nullable(),
});
export type Episode = z.output<typeof episode>;

/** Every run, the oldest first; `result` is null while it is in progress, or when its worker ended without a word. */
export const episodeDetail = episode.extend({
  runs: z.array(
    z.object({
      run: z.int(),
      started_at: micros,
      ended_at: micros.nullable(),
      model: z.string().nullable(),
      status: z.string().nullable(),
      result: repairResult.nullable(),
    }),
  ),
});
export type EpisodeDetail = z.output<typeof episodeDetail>;

export const episodesQuery = pageQuery.extend({
  session: sessionIdText.optional(),
  status: z.string().max(64).optional(),
  incident: z.string().max(64).optional(),
  outcome: z.enum(resolvingStatuses).optional().describe('Only episodes that ended so.'),
  waits_for: z.string().max(64).optional().describe('Only episodes whose repair waits for this, for example `operator`.'),
});

export const incident = z.object({
  id: z.string(),
  fingerprint: z.string().nullable(),
  status: z.string(),
  /** The episode that opened it. */
  opened_by: z.string(),
  opened_at: micros,
  /** The rule that stands for what recurs; null when it has none. */
  rule_id: z.string().nullable(),
  episodes: z.int(),
  notices: z.int(),
});
export type Incident = z.output<typeof incident>;

export const incidentsQuery = pageQuery.extend({ status: z.string().max(64).optional() });

export const journalEvent = z.object({
  id: z.string(),
  at: micros,
  type: z.string(),
  session_id: z.string().nullable(),
  turn_index: z.int().nullable(),
  episode: z.string().nullable(),
  rule: z.string().nullable(),
  doc: z.record(z.string(), z.unknown()),
});
export type JournalEvent = z.output<typeof journalEvent>;

export const journalQuery = pageQuery.extend({
  type: z.string().max(64).optional(),
  session: sessionIdText.optional(),
  episode: z.string().max(64).optional(),
  rule: z.string().max(64).optional(),
  since: timeInput.optional(),
  until: timeInput.optional(),
});
