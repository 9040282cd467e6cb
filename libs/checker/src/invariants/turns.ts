import { consumers, turnEnded } from '#contracts';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Broker } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

/** Invariant 1: what FM_TURNS acknowledged is there, once. `expected`: how many distinct turns that is, where the caller knows. */
export async function checkTurns(
  { reader, broker }: { reader: Reader; broker: Broker },
  findings: Findings,
  expected: number | undefined,
): Promise<void> {
  const turns = await reader.number('SELECT count(*) FROM scoring.turns');
  const dead = await reader.number(DEAD_TURNS, [consumers.scoringTurns.durable]);
  findings.count('turns', turns);
  findings.count('dead_turns', dead);
  if (expected !== undefined && turns + dead !== expected)
    findings.add(1, `expected ${expected} distinct turns, found ${turns} turns and ${dead} dead letters of others`);
  const waiting = await broker.waiting(turnEnded.stream, turnEnded.pattern);
  if (waiting > 0) findings.add(1, `expected an empty ${turnEnded.stream}, found ${waiting} turns that nobody has stored`);
  for (const check of CHECKS) await checkRows(reader, findings, check);
}

/** A letter that was redriven is a turn by now, and counts as that. */
const DEAD_TURNS = `SELECT count(*) FROM (SELECT DISTINCT coalesce(d.s::text || '|' || d.t, d.stream || d.seq) FROM checker_dead d
  WHERE d.consumer = $1 AND NOT EXISTS (SELECT 1 FROM scoring.turns x WHERE x.s = d.s AND x.t = d.t)) letters`;

const CHECKS: readonly RowCheck<TurnRow>[] = [
  {
    invariant: 1,
    sql: `SELECT x.project, x.session, b.t FROM scoring.turn_bodies b LEFT JOIN scoring.sessions x USING (s)
          WHERE NOT EXISTS (SELECT 1 FROM scoring.turns WHERE s = b.s AND t = b.t)`,
    detail: (row) => `${turnName(row)}: expected the turn of a stored body, found none`,
  },
  {
    invariant: 1,
    sql: `SELECT t.project, x.session, t.t FROM scoring.turns t LEFT JOIN scoring.sessions x USING (s)
          WHERE NOT EXISTS (SELECT 1 FROM scoring.turn_bodies WHERE s = t.s AND t = t.t) OR x.s IS NULL`,
    detail: (row) => `${turnName(row)}: expected its body and its session, found not both`,
  },
  {
    invariant: 1,
    sql: `SELECT h.project, h.session, e.t FROM gating.turn_evals e LEFT JOIN gating.heads h USING (s)
          WHERE NOT EXISTS (SELECT 1 FROM scoring.turns WHERE s = e.s AND t = e.t)`,
    detail: (row) => `${turnName(row)}: expected the turn that was judged, found none`,
  },
];
