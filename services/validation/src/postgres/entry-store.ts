import type { Read } from '#rule-store';
import { Injectable } from '@nestjs/common';
import { armOf } from '#domain/evidence';
import type { Transaction } from '#persistence';
import type { JudgedEntry, OpenEntry, SessionFacts, TurnFact } from '../trials/judge-entry.js';
import type { Arrival } from './exposure-store.js';

/** Reads outside any transaction. */

const CLOCK_US = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint';
const MOMENT = "'epoch'::timestamptz + %s * interval '1 microsecond'";
const moment = (micros: string): string => MOMENT.replace('%s', micros);

@Injectable()
export class EntryStore {
  /**
   * Gives sessions their entry numbers in trials that are locked. `last`: the last number of each trial, moved on. One that is in the
   * trial already keeps its number; its exposure is the earliest that is known while its outcome is not.
   */
  async enter(tx: Transaction, arrivals: readonly Arrival[], last: Map<string, number>): Promise<void> {
    const known = await tx.query<{ rule: string; s: string }>(
      `UPDATE validation.trial_sessions x SET exposure_us = CASE WHEN x.outcome IS NULL THEN least(x.exposure_us, k.exposure_us) ELSE x.exposure_us END
       FROM json_to_recordset($1::json) AS k(rule text, s uuid, exposure_us bigint) WHERE x.rule = k.rule AND x.s = k.s RETURNING x.rule, x.s`,
      [JSON.stringify(arrivals)],
    );
    const keys = new Set(known.map(({ rule, s }) => `${rule}|${s}`));
    const rows = arrivals
      .filter(({ rule, s }) => last.has(rule) && !keys.has(`${rule}|${s}`))
      .map(({ rule, of, s, session, exposure_us, allocation, salt }) => {
        const entry = (last.get(rule) ?? 0) + 1;
        last.set(rule, entry);
        return { rule, s, session, entry, exposure_us, arm: armOf({ ruleId: of, sessionId: session, salt }, allocation) };
      });
    if (rows.length === 0) return;
    await tx.query(
      `INSERT INTO validation.trial_sessions (rule, s, session, entry, arm, exposure_us, check_at)
       SELECT rule, s, session, entry, arm, exposure_us, now() FROM json_to_recordset($1::json) AS r(rule text, s uuid, session text, entry bigint, arm text, exposure_us bigint)`,
      [JSON.stringify(rows)],
    );
  }

  /** Sessions of undecided trials whose outcome is not known. */
  openOf(read: Read, sessions: readonly string[]): Promise<OpenEntry[]> {
    return read<OpenEntry>(
      `SELECT x.rule, x.s, x.exposure_us, (extract(epoch FROM x.check_at) * 1000000)::bigint AS check_us, t.metric, t.settings
       FROM validation.trial_sessions x JOIN validation.trials t USING (rule) WHERE x.s = ANY($1::uuid[]) AND x.outcome IS NULL AND t.verdict IS NULL`,
      [sessions],
    );
  }

  /** Sessions whose outcome time alone may have made known. */
  async due(read: Read, most: number): Promise<string[]> {
    const rows = await read<{ s: string }>(
      `SELECT s FROM validation.trial_sessions WHERE outcome IS NULL AND check_at <= clock_timestamp() ORDER BY check_at LIMIT $1`,
      [most],
    );
    return [...new Set(rows.map(({ s }) => s))];
  }

  /** What is known of sessions, with the database's clock. */
  async facts(read: Read, sessions: readonly string[]): Promise<{ bySession: ReadonlyMap<string, SessionFacts>; nowUs: number }> {
    const turns = await read<TurnFact>(
      `SELECT t.s, t.t, t.accepted_us, t.skipped IS NOT NULL AS skipped, t.final, coalesce(e.rev, 0) > 0 AS reported,
         coalesce(f.signatures, '{}') || CASE WHEN e.rev > 0 THEN e.fired ELSE '{}' END AS fired
       FROM scoring.turns t LEFT JOIN gating.turn_evals e USING (s, t) LEFT JOIN validation.fired f USING (s, t) WHERE t.s = ANY($1::uuid[])`,
      [sessions],
    );
    const ends = await read<{ s: string; ended_us: number }>(
      'SELECT s, ended_us FROM validation.session_ends WHERE s = ANY($1::uuid[])',
      [sessions],
    );
    const [clock] = await read<{ now: number }>(`SELECT ${CLOCK_US} AS now`, []);
    const ended = new Map(ends.map(({ s, ended_us: at }) => [s, at]));
    const bySession = new Map(
      sessions.map((s) => [s, { turns: turns.filter((turn) => turn.s === s), endedUs: ended.get(s) ?? null }]),
    );
    return { bySession, nowUs: clock?.now ?? 0 };
  }

  /** Facts about turns: what any published revision of a report fired stays. */
  async keepFired(
    tx: Transaction,
    rows: readonly { readonly s: string; readonly t: number; readonly signatures: readonly string[] }[],
  ): Promise<void> {
    await tx.query(
      `INSERT INTO validation.fired AS f (s, t, signatures)
       SELECT s, t, array_agg(DISTINCT v) FROM json_to_recordset($1::json) AS r(s uuid, t bigint, signatures json), json_array_elements_text(r.signatures) AS v
       GROUP BY s, t ORDER BY s, t
       ON CONFLICT (s, t) DO UPDATE SET signatures = ARRAY(SELECT DISTINCT v FROM unnest(f.signatures || excluded.signatures) AS v) WHERE NOT f.signatures @> excluded.signatures`,
      [JSON.stringify(rows)],
    );
  }

  /** Written once: an outcome that is known stays. */
  async saveOutcomes(tx: Transaction, entries: readonly JudgedEntry[]): Promise<void> {
    await tx.query(
      `UPDATE validation.trial_sessions x SET outcome = r.outcome, known_at = now(), check_at = NULL
       FROM (SELECT * FROM json_to_recordset($1::json) AS k(rule text, s uuid, outcome smallint) ORDER BY rule, s) r
       WHERE x.rule = r.rule AND x.s = r.s AND x.outcome IS NULL`,
      [JSON.stringify(entries)],
    );
  }

  async saveChecks(tx: Transaction, entries: readonly JudgedEntry[]): Promise<void> {
    await tx.query(
      `UPDATE validation.trial_sessions x SET check_at = ${moment('r."checkUs"')}
       FROM json_to_recordset($1::json) AS r(rule text, s uuid, "checkUs" bigint) WHERE x.rule = r.rule AND x.s = r.s AND x.outcome IS NULL`,
      [JSON.stringify(entries)],
    );
  }
}
