import { consumers, projectOfSubject, SYSTEM_PROJECT, turnEnded } from '#contracts';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Broker } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';
import { turnIn } from './dead-letters.js';
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
  await checkQueue({ reader, broker }, findings);
  for (const check of CHECKS) await checkRows(reader, findings, check);
}

/** How many messages of the queue are looked at one by one. */
const PEEKED = 1_000;

/**
 * What FM_TURNS still holds is a turn that nobody has stored, unless it is there: nats-server 2.9, killed, may bring back messages
 * that were acknowledged, and never delivers them again. Those are counted, not complained of.
 */
async function checkQueue({ reader, broker }: { reader: Reader; broker: Broker }, findings: Findings): Promise<void> {
  findings.count('left_in_queue', await broker.waiting(turnEnded.stream, turnEnded.pattern));
  for await (const { seq, subject, data } of broker.peek(turnEnded.stream, turnEnded.pattern, PEEKED)) {
    const { s, t } = turnIn(projectOfSubject(subject) ?? SYSTEM_PROJECT, data);
    const known = await reader.number(
      `SELECT count(*) FROM (SELECT 1 FROM scoring.turns WHERE s = $1 AND t = $2
         UNION ALL SELECT 1 FROM checker_dead WHERE stream = $3 AND seq = $4) x`,
      [s, t, turnEnded.stream, seq],
    );
    if (known === 0)
      findings.add(1, `${subject} at ${turnEnded.stream}:${seq}: expected a stored turn or a dead letter, found neither`);
  }
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
