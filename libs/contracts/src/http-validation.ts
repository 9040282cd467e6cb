import { z } from 'zod';
import { pageQuery } from './http.js';

const micros = z.int();
const unit = z.number();

const armCounts = z.object({ sessions: z.int(), breached: z.int() });
const logs = z.object({ help: unit, harm: unit });

/** A point of a trial's course: its evidence after so many observations. */
export const trialPoint = z.object({
  seq: z.int(),
  at: micros,
  kind: z.enum(['session', 'pair', 'win_pair']),
  help: unit,
  harm: unit,
});
export type TrialPoint = z.output<typeof trialPoint>;

/** A trial as it stands. Evidence is the natural logarithm of E; it has won at `bound`. */
export const trialView = z.object({
  rule_id: z.string(),
  started_at: micros,
  decided_at: micros.nullable(),
  verdict: z.string().describe('pending, promote, retire or stopped'),
  reason: z.string().nullable(),
  source: z.string().nullable(),
  allocation: unit,
  evidence: z.object({ live: logs, replay: logs, total: logs }),
  bound: unit,
  bound_harm: unit,
  sessions: z.object({ treatment: armCounts, control: armCounts }),
  /** Sessions that came to the rule; those of them whose outcome is not known; those whose outcome is known and not counted yet. */
  entered: z.int(),
  open: z.int(),
  waiting: z.int(),
  /** `tape_share`: the mean share of tool calls that came from the tape; null where no run had one. */
  pairs: z.object({ counted: z.int(), inconclusive: z.record(z.string(), z.int()), tape_share: unit.nullable() }),
  effect: z.object({ live: unit.nullable(), replay: unit.nullable() }),
  interval: z.object({ low: unit, high: unit }).nullable(),
  sample_ratio_mismatch: z.boolean(),
  sessions_needed: z.int().nullable(),
  /** At most 500 points, the last one always. */
  course: z.array(trialPoint),
});
export type TrialView = z.output<typeof trialView>;

/** An undecided candidate with what is under way for it. Nothing under way: it waits for sessions, or for a case and a worker. */
export const pendingTrial = z.object({
  rule_id: z.string(),
  scope: z.string(),
  /** Sessions that came to it and whose outcome is not known. */
  open_sessions: z.int(),
  /** A pair of replays is being run. */
  pair_running: z.boolean(),
});
export type PendingTrial = z.output<typeof pendingTrial>;

/** A promoted rule under watch: some sessions do not see it, and it is seen whether it still helps. */
export const ruleWatch = z.object({
  id: z.string(),
  rule_id: z.string(),
  scope: z.string(),
  started_at: micros,
  decided_at: micros.nullable(),
  verdict: z.enum(['watching', 'confirmed', 'stale', 'harmful', 'stopped']),
  /** The share of sessions that see the rule. */
  allocation: unit,
  sessions: z.object({ treatment: armCounts, control: armCounts }),
  evidence: logs,
  bound: unit,
});
export type RuleWatch = z.output<typeof ruleWatch>;

export const watchesQuery = pageQuery.extend({
  verdict: z.enum(['watching', 'confirmed', 'stale', 'harmful', 'stopped']).optional(),
});

/** A session that was shown a rule, and how it stands: the blast radius of a rule is all of them. */
export const ruleReader = z.object({
  session_id: z.string(),
  first_read_at: micros,
  reads: z.int(),
  /** Its outcome in a trial of the rule: 1 breached, 0 did not, null not known or never tried. */
  outcome: z.int().nullable(),
  alerting: z.boolean(),
});
export type RuleReaderSession = z.output<typeof ruleReader>;

export const regressionStatuses = ['improved', 'unchanged', 'regressed', 'skipped'] as const;

export const startRegression = z.strictObject({
  k: z.int().min(1).max(20).default(1).describe('How often each case is run.'),
  sample: z.int().min(1).optional().describe('At most this many cases: wins first, then the newest failures.'),
});

export const regressionRun = z.object({
  id: z.string(),
  state: z.enum(['running', 'done', 'cancelled']),
  requested_by: z.string(),
  k: z.int(),
  /** Versions of the eval set and of the rules when it began. */
  set_version: z.int(),
  rules_version: z.int(),
  created_at: micros,
  ended_at: micros.nullable(),
  runs: z.int(),
  done: z.int(),
  counts: z.partialRecord(z.enum(regressionStatuses), z.int()),
  /** Share of the cases that were run k times of which no run regressed; null while there is none. */
  pass_at_k: unit.nullable(),
});
export type RegressionRun = z.output<typeof regressionRun>;

export const regressionCase = z.object({
  case_id: z.string(),
  kind: z.enum(['failure', 'win']),
  repetition: z.int(),
  status: z.enum(regressionStatuses).nullable(),
  reason: z.string().nullable(),
  /** Replay less capture, by metric. */
  deltas: z.record(z.string(), unit),
});
export type RegressionCase = z.output<typeof regressionCase>;

export const regressionReport = regressionRun.extend({ cases: z.array(regressionCase) });
export type RegressionReport = z.output<typeof regressionReport>;

export const regressionsQuery = pageQuery;
