import { admit, type SessionAdmission, type SkipReason } from '#domain/admission';
import { derivedId } from '#domain/ids';
import type { JournalEntry, Transaction } from '#persistence';
import type { AdmissionRules } from '../admission-rules.js';
import { emitScored } from './emit-scored.js';
import { keyOf, keysJson, type ConfiguredTurn } from './turn-rows.js';

const MICROS = 1_000_000;

const hasBudget = ({ max_evals: evals, max_cost_usd: cost }: AdmissionRules): boolean => evals > 0 || cost > 0;
const hasPace = (rules: AdmissionRules): boolean => rules.eval_sample_every > 1 || rules.session_min_eval_interval_s > 0;

/** Sessions whose turns are counted or timed: they are locked before their turns are written, so that nobody counts beside us. */
export function pacedSessions(turns: readonly ConfiguredTurn[]): string[] {
  return [...new Set(turns.filter(({ rules }) => hasPace(rules)).map(({ s }) => s))].sort();
}

/**
 * Decides which of the turns just written are scored: budget first, then sampling, then rate, in the order of their acceptance.
 * A skipped turn is answered without scores, and journaled with its reason; a spent budget once for its window, then counted.
 * Returns the others.
 */
export async function admitTurns(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<ConfiguredTurn[]> {
  const limited = turns.filter(({ rules }) => hasBudget(rules) || hasPace(rules));
  if (limited.length === 0) return [...turns];
  const budgets = await lockBudgets(tx, limited);
  const sessions = await sessionsBefore(tx, limited);
  const paced = [...sessions.keys()];
  const skipped = new Map<string, SkipReason>();
  for (const one of [...limited].sort((a, b) => a.acceptedAt - b.acceptedAt || a.t - b.t)) {
    const skip = decide(one, sessions, budgets.get(one.project));
    if (skip !== null) skipped.set(keyOf(one), skip);
  }
  await saveBudgets(tx, budgets);
  await saveSessions(tx, paced, sessions);
  await skipTurns(tx, limited, skipped, budgets);
  return turns.filter((one) => !skipped.has(keyOf(one)));
}

interface Budget {
  readonly project: string;
  readonly windowFrom: number;
  /** Today, which is `day` (UTC). */
  readonly spentUsd: number;
  readonly day: string;
  admitted: number;
  skipped: number;
}

function decide(
  { s, project, rules, acceptedAt }: ConfiguredTurn,
  sessions: Map<string, SessionAdmission>,
  budget: Budget | undefined,
): SkipReason | null {
  const before = sessions.get(s) ?? { turns: 0, lastAdmittedAt: null };
  const spent = isSpent(budget?.spentUsd ?? 0, rules);
  // Microseconds throughout: exactly the interval later is admitted, which seconds as fractions would miss.
  const { session, skip } = admit(before, acceptedAt, budget?.admitted ?? 0, {
    eval_sample_every: rules.eval_sample_every,
    session_min_eval_interval_s: Math.round(rules.session_min_eval_interval_s * MICROS),
    max_evals: rules.max_evals,
  });
  const reason = spent ? 'budget' : skip;
  sessions.set(s, reason === null ? session : { ...session, lastAdmittedAt: before.lastAdmittedAt });
  if (budget === undefined) throw new Error(`the budget row of ${project} is missing`);
  if (reason === null) budget.admitted += 1;
  if (reason === 'budget') budget.skipped += 1;
  return reason;
}

function isSpent(usd: number, { max_cost_usd: most, valueUsd }: AdmissionRules): boolean {
  return most > 0 && (usd >= most || usd + valueUsd > most);
}

/** One writer at a time per project that has a budget: the batch is the chunk in which it is spent. */
async function lockBudgets(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<Map<string, Budget>> {
  const rows = [...new Map(turns.map(({ project, rules }) => [project, { project, window_h: rules.budget_window_h }])).values()];
  await tx.query(
    'INSERT INTO scoring.budgets (project) SELECT project FROM json_to_recordset($1::json) AS r(project text) ORDER BY project ON CONFLICT DO NOTHING',
    [JSON.stringify(rows)],
  );
  const locked = await tx.query<{
    project: string;
    from: number;
    over: boolean;
    admitted: number;
    skipped: number;
    spent: number;
    day: string;
  }>(
    `SELECT b.project, (extract(epoch FROM CASE WHEN o.over THEN now() ELSE b.window_from END) * 1000000)::bigint AS from, o.over, b.admitted, b.skipped,
       coalesce((SELECT cost_usd FROM scoring.spend d WHERE d.project = b.project AND d.day = (now() AT TIME ZONE 'utc')::date), 0) AS spent,
       (now() AT TIME ZONE 'utc')::date::text AS day
     FROM scoring.budgets b JOIN json_to_recordset($1::json) AS r(project text, window_h float8) USING (project)
     CROSS JOIN LATERAL (SELECT b.window_from + make_interval(secs => r.window_h * 3600) <= now() AS over) o
     ORDER BY b.project FOR UPDATE OF b`,
    [JSON.stringify(rows)],
  );
  return new Map(
    locked.map(({ project, from, over, admitted, skipped, spent, day }) => [
      project,
      { project, windowFrom: from, spentUsd: spent, day, admitted: over ? 0 : admitted, skipped: over ? 0 : skipped },
    ]),
  );
}

async function saveBudgets(tx: Transaction, budgets: ReadonlyMap<string, Budget>): Promise<void> {
  await tx.query(
    `UPDATE scoring.budgets b SET window_from = to_timestamp(r."windowFrom" / 1000000.0), admitted = r.admitted, skipped = r.skipped
     FROM json_to_recordset($1::json) AS r(project text, "windowFrom" float8, admitted int, skipped int) WHERE b.project = r.project`,
    [JSON.stringify([...budgets.values()])],
  );
}

const EARLIER = `FROM scoring.turns t WHERE t.s = x.s
  AND NOT EXISTS (SELECT 1 FROM json_to_recordset($1::json) AS own(s uuid, t bigint) WHERE own.s = t.s AND own.t = t.t)`;

/**
 * Per session, what it was before these turns: how many turns it had, and when its last scored one was accepted. Kept with the
 * session, which is locked; counted once where no turn of it was counted or timed before.
 */
async function sessionsBefore(tx: Transaction, turns: readonly ConfiguredTurn[]): Promise<Map<string, SessionAdmission>> {
  const paced = turns.filter(({ rules }) => hasPace(rules));
  if (paced.length === 0) return new Map();
  const rows = await tx.query<{ s: string; turns: number; last: number | null }>(
    `SELECT x.s, CASE WHEN x.turns_seen IS NULL THEN (SELECT count(*) ${EARLIER}) ELSE x.turns_seen END AS turns,
       CASE WHEN x.turns_seen IS NULL THEN (SELECT max(t.accepted_us) FILTER (WHERE t.skipped IS NULL) ${EARLIER}) ELSE x.last_admitted_us END AS last
     FROM (SELECT DISTINCT s FROM json_to_recordset($1::json) AS r(s uuid)) k JOIN scoring.sessions x USING (s)`,
    [keysJson(paced)],
  );
  return new Map(rows.map(({ s, turns: count, last }) => [s, { turns: count, lastAdmittedAt: last }]));
}

async function saveSessions(
  tx: Transaction,
  paced: readonly string[],
  sessions: ReadonlyMap<string, SessionAdmission>,
): Promise<void> {
  if (paced.length === 0) return;
  const rows = paced.map((s) => ({ s, turns: sessions.get(s)?.turns, last: sessions.get(s)?.lastAdmittedAt }));
  await tx.query(
    `UPDATE scoring.sessions x SET turns_seen = r.turns, last_admitted_us = r.last
     FROM json_to_recordset($1::json) AS r(s uuid, turns int, last bigint) WHERE x.s = r.s`,
    [JSON.stringify(rows)],
  );
}

async function skipTurns(
  tx: Transaction,
  turns: readonly ConfiguredTurn[],
  skipped: ReadonlyMap<string, SkipReason>,
  budgets: ReadonlyMap<string, Budget>,
): Promise<void> {
  const own = turns.flatMap((one) => {
    const reason = skipped.get(keyOf(one));
    return reason === undefined ? [] : [{ one, reason }];
  });
  if (own.length === 0) return;
  await tx.query(
    `UPDATE scoring.turns SET skipped = r.reason, wait_until = NULL, answered_1 = 1
     FROM json_to_recordset($1::json) AS r(s uuid, t bigint, reason text) WHERE turns.s = r.s AND turns.t = r.t`,
    [JSON.stringify(own.map(({ one: { s, t }, reason }) => ({ s, t, reason })))],
  );
  for (const { one, reason } of own) {
    const { turn } = one;
    const answer = { tier: 1, answer: 1, scores: [], signals: [], skipped: reason } as const;
    emitScored(tx, { ...one, session: turn.session_id, partial: false }, { ...answer, scores: [], signals: [] });
    tx.journal(skipEntry(one, reason, budgets.get(one.project)));
  }
}

function skipEntry(one: ConfiguredTurn, reason: SkipReason, budget: Budget | undefined): JournalEntry {
  const { s, t, project, turn } = one;
  const { cause, note } = reason === 'budget' && budget !== undefined ? spentBudget(one.rules, budget) : { cause: keyOf(one) };
  return {
    id: derivedId('turn_skipped', project, reason, cause),
    ...{ project, type: 'turn_skipped', s, session: turn.session_id, t },
    doc: { reason, ...(note === undefined ? {} : { note: `${note}; further turns that it skips are counted, not journaled` }) },
  };
}

/** Which budget is spent: said once for its window, or its day. */
function spentBudget(rules: AdmissionRules, { windowFrom, spentUsd, day }: Budget): { cause: string | number; note?: string } {
  if (!isSpent(spentUsd, rules))
    return { cause: windowFrom, note: `max_evals: ${rules.max_evals} turns in ${rules.budget_window_h} h have been scored` };
  const { max_cost_usd: most, valueUsd } = rules;
  return {
    cause: day,
    note: `max_cost_usd: ${usd(spentUsd)} of ${usd(most)} are spent today (UTC), and one value may cost ${usd(valueUsd)}`,
  };
}

function usd(amount: number): string {
  return `${Number(amount.toPrecision(4))} USD`;
}
