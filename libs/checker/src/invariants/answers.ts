import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import { REFOLD_TURNS } from '../refold-window.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

type AnswerRow = TurnRow & { readonly tier: number; readonly given: number; readonly kept: number };

/** How long after its deadline an answer may still be missing. */
const GRACE = "interval '1 minute'";

/** Invariant 2: every turn has every answer asked for, or waits, none longer than its deadline and a minute. */
export async function checkAnswers(reader: Reader, findings: Findings): Promise<void> {
  for (const check of [...UNANSWERED, ...JOBS, UNATTACHED]) await checkRows(reader, findings, check);
  await checkRows(reader, findings, ARRIVED);
}

/** A tier that waits for its values, and not too long. */
const WAITS = (tier: 2 | 3): string =>
  `EXISTS (SELECT 1 FROM scoring.tier_waits w WHERE w.s = t.s AND w.t = t.t AND w.tier = ${tier} AND w.until > now() - ${GRACE})`;

const UNANSWERED: readonly RowCheck<TurnRow & { what: string }>[] = [
  {
    invariant: 2,
    sql: `SELECT t.project, x.session, t.t, coalesce('waiting since ' || coalesce(w.until, t.wait_until), 'neither') AS what
          FROM scoring.turns t LEFT JOIN scoring.sessions x USING (s)
          LEFT JOIN scoring.tier_waits w ON w.s = t.s AND w.t = t.t AND w.tier = 1
          WHERE t.answered_1 = 0 AND coalesce(w.until, t.wait_until, '-infinity') < now() - ${GRACE}`,
    detail: ({ what, ...row }) => `${turnName(row)}: expected tier 1 answered, or waiting for traces or values, found ${what}`,
  },
  {
    invariant: 2,
    sql: `SELECT t.project, x.session, t.t, CASE WHEN e.requested & 4 > 0 AND t.answered_2 = 0 AND NOT ${WAITS(2)} THEN '2' ELSE '3' END AS what
          FROM gating.turn_evals e JOIN scoring.turns t USING (s, t) LEFT JOIN scoring.sessions x USING (s)
          WHERE (e.requested & 4 > 0 AND t.answered_2 = 0 AND NOT ${WAITS(2)}) OR (e.requested & 8 > 0 AND t.answered_3 = 0 AND NOT ${WAITS(3)})`,
    detail: ({ what, ...row }) => `${turnName(row)}: expected an answer of tier ${what}, which the gate asked for, found none`,
  },
];

/** A value that waits is somebody's job; a job has values that wait. Neither is older than its end and a minute. */
const JOBS: readonly RowCheck<TurnRow & { what: string }>[] = [
  {
    invariant: 2,
    sql: `SELECT t.project, x.session, c.t, c.metric || ' of tier ' || c.tier AS what FROM scoring.scores c
          JOIN scoring.turns t USING (s, t) LEFT JOIN scoring.sessions x USING (s)
          WHERE c.status = 'pending' AND NOT EXISTS (SELECT 1 FROM scoring.score_jobs j WHERE j.s = c.s AND j.t = c.t AND j.tier = c.tier AND j.provider = c.provider)`,
    detail: ({ what, ...row }) => `${turnName(row)}: expected a job for the pending ${what}, found none`,
  },
  {
    invariant: 2,
    sql: `SELECT j.project, x.session, j.t, j.provider || ' of tier ' || j.tier AS what FROM scoring.score_jobs j LEFT JOIN scoring.sessions x USING (s)
          WHERE j.expires_at < now() - ${GRACE}`,
    detail: ({ what, ...row }) => `${turnName(row)}: expected the job ${what} given up in time, found it still there`,
  },
];

const UNATTACHED: RowCheck<TurnRow> = {
  invariant: 2,
  sql: `SELECT p.project, p.session, p.t FROM scoring.posted_scores p JOIN scoring.turns USING (s, t)
        WHERE NOT p.attached AND p.at < now() - ${GRACE} AND p.at > now() - interval '10 minutes'`,
  detail: (row) => `${turnName(row)}: expected the score that was sent for it attached, found it unattached`,
};

/** What scoring answered has arrived at the gate. Answers to turns that can no longer be folded again are not taken. */
const ARRIVED: RowCheck<AnswerRow> = {
  invariant: 2,
  sql: `SELECT t.project, x.session, t.t, a.tier, a.given, coalesce((e.evidence->(a.tier::text)->>'answer')::int, 0) AS kept
        FROM scoring.turns t CROSS JOIN LATERAL (VALUES (0, t.answered_0), (1, t.answered_1), (2, t.answered_2), (3, t.answered_3)) AS a(tier, given)
        LEFT JOIN gating.turn_evals e USING (s, t) LEFT JOIN scoring.sessions x USING (s)
        WHERE a.given <> coalesce((e.evidence->(a.tier::text)->>'answer')::int, 0) AND coalesce(e.folded, true)
          AND (SELECT count(*) FROM (SELECT 1 FROM gating.turn_evals w WHERE w.s = t.s AND w.t > t.t AND w.folded LIMIT ${REFOLD_TURNS}) newer) < ${REFOLD_TURNS}`,
  detail: ({ tier, given, kept, ...row }) =>
    `${turnName(row)}: expected answer ${given} of tier ${tier} at the gate, found ${kept === 0 ? 'none' : `answer ${kept}`}`,
};
