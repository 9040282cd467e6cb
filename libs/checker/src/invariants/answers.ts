import { OUTCOME_METRIC } from '#contracts';
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
  for (const check of [...UNANSWERED, UNATTACHED]) await checkRows(reader, findings, check);
  await checkRows(reader, findings, ARRIVED);
}

const UNANSWERED: readonly RowCheck<TurnRow & { what: string }>[] = [
  {
    invariant: 2,
    sql: `SELECT t.project, x.session, t.t, coalesce('waiting since ' || t.wait_until, 'neither') AS what
          FROM scoring.turns t LEFT JOIN scoring.sessions x USING (s)
          WHERE t.answered_1 = 0 AND (t.wait_until IS NULL OR t.wait_until < now() - ${GRACE})`,
    detail: ({ what, ...row }) => `${turnName(row)}: expected tier 1 answered or waiting for traces, found ${what}`,
  },
  {
    invariant: 2,
    sql: `SELECT t.project, x.session, t.t, CASE WHEN e.requested & 4 > 0 AND t.answered_2 = 0 THEN '2' ELSE '3' END AS what
          FROM gating.turn_evals e JOIN scoring.turns t USING (s, t) LEFT JOIN scoring.sessions x USING (s)
          WHERE e.requested & 4 > 0 AND t.answered_2 = 0 OR e.requested & 8 > 0 AND t.answered_3 = 0`,
    detail: ({ what, ...row }) => `${turnName(row)}: expected an answer of tier ${what}, which the gate asked for, found none`,
  },
];

const UNATTACHED: RowCheck<TurnRow> = {
  invariant: 2,
  sql: `SELECT p.project, p.session, p.t FROM scoring.posted_scores p JOIN scoring.turns USING (s, t)
        WHERE NOT p.attached AND p.metric = '${OUTCOME_METRIC}' AND p.at < now() - ${GRACE}`,
  detail: (row) => `${turnName(row)}: expected the verifier's answer attached, found it unattached`,
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
