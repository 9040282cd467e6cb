import { Injectable } from '@nestjs/common';
import { beginTrial, type Observation, type TrialState } from '#domain/evidence';
import type { Transaction } from '#persistence';
import type { TrialCases } from './case-store.js';
import type { KeptSettings } from '../trials/trial-settings.js';

/** A candidate is tried before its promotion; a promoted rule is watched. */
export type TrialKind = 'candidate' | 'ablation';

export interface TrialRow {
  readonly rule: string;
  readonly of: string;
  readonly kind: TrialKind;
  readonly project: string;
  readonly metric: string | null;
  readonly settings: KeptSettings;
  readonly state: TrialState;
  /** The last entry number given, the last counted, and the number of observations. */
  readonly entries: number;
  readonly counted: number;
  readonly observations: number;
  /** What its replays are made of; null while there are none. */
  readonly cases: TrialCases | null;
  /** By the database's clock. */
  readonly age_days: number;
}

/** A rule that is on trial, or will be. `rule`: the trial, which for a candidate is named as its rule. */
export interface TrialRule {
  readonly rule: string;
  readonly of: string;
  readonly kind: TrialKind;
  readonly project: string;
  readonly metric: string | null;
  readonly allocation: number;
}

/** One counted observation with its place. */
export interface CountedObservation {
  readonly seq: number;
  readonly s: string | null;
  readonly pair: string | null;
  readonly doc: Observation;
}

@Injectable()
export class TrialStore {
  /** How many undecided trials projects have. */
  async openIn(tx: Transaction, projects: readonly string[]): Promise<Map<string, number>> {
    const rows = await tx.query<{ project: string; n: number }>(
      "SELECT project, count(*) AS n FROM validation.trials WHERE project = ANY($1::text[]) AND kind = 'candidate' AND verdict IS NULL GROUP BY project",
      [projects],
    );
    return new Map(rows.map(({ project, n }) => [project, n]));
  }

  /** Begins trials that have not begun. Returns those that did. */
  begin(tx: Transaction, rules: readonly (TrialRule & { readonly settings: KeptSettings })[]): Promise<TrialRule[]> {
    const rows = rules.map((one) => ({ ...one, state: beginTrial(one.allocation) }));
    return tx.query<TrialRule>(
      `INSERT INTO validation.trials (rule, of, kind, project, metric, settings, state)
       SELECT rule, of, kind, project, metric, settings, state FROM json_to_recordset($1::json) AS r(rule text, of text, kind text, project text, metric text, settings jsonb, state jsonb) ORDER BY rule
       ON CONFLICT DO NOTHING RETURNING rule, of, kind, project, metric, (state ->> 'allocation')::float8 AS allocation`,
      [JSON.stringify(rows)],
    );
  }

  /** Undecided trials, locked in order. */
  lock(tx: Transaction, rules: readonly string[]): Promise<TrialRow[]> {
    return tx.query<TrialRow>(
      `SELECT rule, of, kind, project, metric, settings, state, entries, counted, observations, cases, extract(epoch FROM clock_timestamp() - started_at)::float8 / 86400 AS age_days
       FROM validation.trials WHERE rule = ANY($1::text[]) AND verdict IS NULL ORDER BY rule FOR UPDATE`,
      [rules],
    );
  }

  /** The mean share of tool calls that came from the tape, over the runs of counted pairs; null where none had a tape. */
  async tapeShare(tx: Transaction, rule: string): Promise<number | null> {
    const [row] = await tx.query<{ share: number | null }>(
      `SELECT avg(v.tape_share)::float8 AS share FROM validation.replays v JOIN validation.pairs p USING (pair) WHERE p.rule = $1 AND p.state = 'counted'`,
      [rule],
    );
    return row?.share ?? null;
  }

  async saveEntries(tx: Transaction, last: ReadonlyMap<string, number>): Promise<void> {
    await tx.query(
      'UPDATE validation.trials t SET entries = r.entries FROM json_to_recordset($1::json) AS r(rule text, entries bigint) WHERE t.rule = r.rule AND t.entries <> r.entries',
      [JSON.stringify([...last].map(([rule, entries]) => ({ rule, entries })))],
    );
  }

  /** The entries after the last counted one, up to the first whose outcome is not known. */
  async countable(tx: Transaction, { rule, counted }: TrialRow): Promise<{ s: string; observation: Observation }[]> {
    const rows = await tx.query<{ s: string; arm: 'treatment' | 'control'; outcome: number }>(
      `SELECT s, arm, outcome FROM validation.trial_sessions WHERE rule = $1 AND entry > $2
         AND entry < coalesce((SELECT min(entry) FROM validation.trial_sessions WHERE rule = $1 AND entry > $2 AND outcome IS NULL), 9223372036854775807)
       ORDER BY entry`,
      [rule, counted],
    );
    return rows.map(({ s, arm, outcome }) => ({ s, observation: { kind: 'session', arm, breached: outcome === 1 } }));
  }

  async save(
    tx: Transaction,
    rule: string,
    {
      observations,
      ...row
    }: {
      readonly state: TrialState;
      readonly counted: number;
      readonly verdict: unknown;
      readonly observations: readonly CountedObservation[];
    },
  ): Promise<void> {
    await tx.query(
      `INSERT INTO validation.observations (rule, seq, s, pair, doc) SELECT $1, seq, s, pair, doc FROM json_to_recordset($2::json) AS r(seq bigint, s uuid, pair text, doc jsonb)`,
      [rule, JSON.stringify(observations)],
    );
    await tx.query(
      `UPDATE validation.trials SET state = $2, counted = $3, observations = observations + $4, verdict = $5::jsonb, decided_at = CASE WHEN $5::jsonb IS NULL THEN NULL ELSE clock_timestamp() END WHERE rule = $1`,
      [
        rule,
        JSON.stringify(row.state),
        row.counted,
        observations.length,
        row.verdict === null ? null : JSON.stringify(row.verdict),
      ],
    );
  }
}
