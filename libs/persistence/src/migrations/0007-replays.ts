import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replays: cases run again by the host's workers. One of a pair runs without the rule and one with it (`arm`); one of a regression run is
 * `current`. `surfaced`: it came to a read that held the rule, or would have.
 */
const tables = `
CREATE TABLE validation.pairs (
  pair text PRIMARY KEY, rule text NOT NULL, project text NOT NULL, number int NOT NULL, case_id text NOT NULL, case_kind text NOT NULL, first text NOT NULL CHECK (first IN ('with', 'without')),
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'counted', 'inconclusive')), reason text, deltas jsonb, created_at timestamptz NOT NULL DEFAULT now(), ended_at timestamptz,
  UNIQUE (rule, number));
CREATE UNIQUE INDEX pairs_running ON validation.pairs (rule) WHERE state = 'running';
CREATE TABLE validation.replays (
  replay text PRIMARY KEY, project text NOT NULL, s uuid NOT NULL UNIQUE, session text NOT NULL, rule text, pair text, regression text, case_id text NOT NULL,
  arm text NOT NULL CHECK (arm IN ('with', 'without', 'current')),
  state text NOT NULL DEFAULT 'requested' CHECK (state IN ('requested', 'started', 'finished', 'scoring', 'scored', 'inconclusive')),
  requested_at timestamptz NOT NULL DEFAULT now(), start_by timestamptz, deadline timestamptz, timeout_s double precision NOT NULL, started_at timestamptz, finished_at timestamptz, look_at timestamptz,
  ended_at timestamptz, reason text, error text, surfaced boolean NOT NULL DEFAULT false, tape_share double precision, t bigint, scores jsonb);
CREATE INDEX replays_under_way ON validation.replays (project, state) WHERE state IN ('requested', 'started', 'finished', 'scoring');
CREATE INDEX replays_of_pair ON validation.replays (pair) WHERE pair IS NOT NULL;
CREATE TABLE validation.replay_scores (replay text NOT NULL, tier smallint NOT NULL, answer int NOT NULL, pending boolean NOT NULL, scores jsonb NOT NULL, PRIMARY KEY (replay, tier));
CREATE TABLE validation.regressions (
  run text PRIMARY KEY, project text NOT NULL, state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'cancelled')), requested_by text NOT NULL, k int NOT NULL, set_version bigint NOT NULL,
  rules_version bigint NOT NULL, margins jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), ended_at timestamptz);
CREATE INDEX regressions_recent ON validation.regressions (project, created_at DESC, run);
CREATE INDEX regressions_running ON validation.regressions (project, created_at) WHERE state = 'running';
CREATE TABLE validation.regression_cases (
  run text NOT NULL, place int NOT NULL, repetition int NOT NULL, case_id text NOT NULL, kind text NOT NULL, replay text UNIQUE, status text, reason text, deltas jsonb, PRIMARY KEY (run, place, repetition));
CREATE INDEX regression_cases_open ON validation.regression_cases (run, place, repetition) WHERE status IS NULL;
ALTER TABLE validation.trials ADD COLUMN cases jsonb, ADD COLUMN cases_at timestamptz;`;

/** What the services are granted over the tables of this migration, in the words of migration 2. */
export const grantsOfReplays: Readonly<Record<string, readonly string[]>> = {
  fm_validation: [
    'SELECT, INSERT, UPDATE ON validation.pairs, validation.replays, validation.replay_scores',
    'SELECT ON scoring.turn_bodies, scoring.sessions',
    'SELECT, UPDATE (state, ended_at) ON validation.regressions',
    'SELECT, UPDATE (replay, status, reason, deltas) ON validation.regression_cases',
  ],
  fm_scoring: ['SELECT ON validation.replays'],
  fm_gateway: [
    'SELECT ON validation.pairs, validation.replays, validation.replay_scores',
    'SELECT, INSERT ON validation.regressions, validation.regression_cases',
  ],
};

export class Replays1764500000007 implements MigrationInterface {
  readonly name = 'Replays1764500000007';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    for (const [role, allowed] of Object.entries(grantsOfReplays))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP TABLE validation.pairs, validation.replays, validation.replay_scores, validation.regressions, validation.regression_cases;
       ALTER TABLE validation.trials DROP COLUMN cases, DROP COLUMN cases_at;
       REVOKE SELECT ON scoring.turn_bodies, scoring.sessions FROM fm_validation`,
    );
  }
}
