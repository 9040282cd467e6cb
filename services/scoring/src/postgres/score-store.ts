import { Injectable } from '@nestjs/common';
import type { Transaction } from '#persistence';
import { attachPosted, attachStrays } from './score-rows.js';

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

/** Scores that come by themselves: a verifier's answer, before or after its turn. */
@Injectable()
export class ScoreStore {
  async post(tx: Transaction, posted: readonly PostedScore[]): Promise<void> {
    await tx.query(
      `INSERT INTO scoring.posted_scores (s, t, project, session, trace, metric, value, reason)
       SELECT DISTINCT ON (s, t, trace, metric) s, t, project, session, trace, metric, value, reason
       FROM json_to_recordset($1::json) AS r(s uuid, t bigint, project text, session text, trace text, metric text, value float8, reason text)
       ORDER BY s, t, trace, metric ON CONFLICT DO NOTHING`,
      [JSON.stringify(posted)],
    );
    await attachPosted(tx, posted);
  }

  async attachStray(tx: Transaction): Promise<void> {
    await attachStrays(tx);
  }
}
