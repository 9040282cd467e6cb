import { Injectable } from '@nestjs/common';
import { derivedId } from '#domain/ids';
import { storable } from '#domain/text';
import type { Transaction } from '#persistence';
import { attachSent } from './sent-rows.js';

export interface PostedScore {
  readonly s: string;
  readonly t: number;
  readonly project: string;
  readonly session: string;
  /** Empty: about the whole turn. */
  readonly trace: string;
  readonly metric: string;
  readonly value: number | null;
  readonly reason: string | null;
}

interface StoredScore {
  readonly s: string;
  readonly t: number;
  readonly trace: string;
  readonly metric: string;
  readonly value: number | null;
}

const keyOf = ({ s, t, trace, metric }: Omit<StoredScore, 'value'>): string => JSON.stringify([s, t, trace, metric]);

/** Scores that come by themselves: a verifier's answer, or a host's, before or after its turn. */
@Injectable()
export class ScoreStore {
  /** The first answer about the same thing stays. `posted` is in the order of the stream, which decides who is first within it. */
  async post(tx: Transaction, posted: readonly PostedScore[]): Promise<void> {
    if (posted.length === 0) return;
    await this.keep(tx, posted);
    await attachSent(tx, distinctKeys(posted));
  }

  /** The facts alone, for whoever attaches them itself. */
  async keep(tx: Transaction, posted: readonly PostedScore[]): Promise<void> {
    if (posted.length === 0) return;
    const inserted = await tx.query<StoredScore>(
      `INSERT INTO scoring.posted_scores (s, t, project, session, trace, metric, value, reason)
       SELECT DISTINCT ON (s, t, trace, metric) s, t, project, session, trace, metric, value, reason
       FROM json_to_recordset($1::json) AS r(s uuid, t bigint, project text, session text, trace text, metric text, value float8, reason text, place int)
       ORDER BY s, t, trace, metric, place ON CONFLICT DO NOTHING RETURNING s, t, trace, metric, value`,
      [JSON.stringify(storable(posted.map((one, place) => ({ ...one, place }))).value)],
    );
    if (inserted.length < posted.length) await journalConflicts(tx, posted);
  }

  async attachStray(tx: Transaction): Promise<void> {
    await attachSent(tx);
  }
}

function distinctKeys(posted: readonly PostedScore[]): { s: string; t: number }[] {
  return [...new Map(posted.map(({ s, t }) => [`${s}|${t}`, { s, t }])).values()];
}

/** Another answer than the one that stays: somebody may want to know. Other words for the same value are none. */
async function journalConflicts(tx: Transaction, posted: readonly PostedScore[]): Promise<void> {
  const stored = await tx.query<StoredScore>(
    `SELECT p.s, p.t, p.trace, p.metric, p.value FROM scoring.posted_scores p
     JOIN (SELECT DISTINCT s, t FROM json_to_recordset($1::json) AS r(s uuid, t bigint)) k USING (s, t)`,
    [JSON.stringify(posted.map(({ s, t }) => ({ s, t })))],
  );
  const kept = new Map(stored.map((one) => [keyOf(one), one.value]));
  for (const one of posted) {
    const first = kept.get(keyOf(one));
    if (first === undefined || first === one.value) continue;
    const { s, t, project, session, trace, metric, value } = one;
    tx.journal({
      id: derivedId('score_conflict', s, t, trace, metric, String(value)),
      ...{ project, type: 'score_conflict', s, session, t },
      doc: { metric, trace_id: trace === '' ? null : trace, kept: first, refused: value },
    });
  }
}
