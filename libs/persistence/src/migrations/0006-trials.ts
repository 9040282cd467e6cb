import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Trials of rules (DATAFLOW, step 8). `trial_sessions.entry` numbers the sessions of a rule in the order in which they came to it;
 * `trials.counted` is the last entry whose outcome has been counted. A rule that was promoted is watched by further trials, one after the
 * other (`kind` ablation), named after it: `of` is the rule itself. `check_at`: when time alone may make an outcome known.
 */
const tables = `
CREATE TABLE validation.trials (
  rule text PRIMARY KEY, of text NOT NULL, kind text NOT NULL DEFAULT 'candidate' CHECK (kind IN ('candidate', 'ablation')), project text NOT NULL, metric text, settings jsonb NOT NULL, started_at timestamptz NOT NULL DEFAULT now(),
  entries bigint NOT NULL DEFAULT 0, counted bigint NOT NULL DEFAULT 0, observations bigint NOT NULL DEFAULT 0, state jsonb NOT NULL,
  verdict jsonb, decided_at timestamptz, applied boolean NOT NULL DEFAULT false) WITH (fillfactor = 70);
CREATE INDEX trials_open ON validation.trials (started_at) WHERE NOT applied;
CREATE INDEX trials_of_rule ON validation.trials (of, kind);
CREATE INDEX trials_of_project ON validation.trials (project, started_at DESC);
CREATE TABLE validation.trial_sessions (
  rule text NOT NULL, s uuid NOT NULL, session text NOT NULL, entry bigint NOT NULL, arm text NOT NULL CHECK (arm IN ('treatment', 'control')),
  exposure_us bigint NOT NULL, outcome smallint, known_at timestamptz, check_at timestamptz, PRIMARY KEY (rule, s), UNIQUE (rule, entry)) WITH (fillfactor = 80);
CREATE INDEX trial_sessions_open ON validation.trial_sessions (s) WHERE outcome IS NULL;
CREATE INDEX trial_sessions_check ON validation.trial_sessions (check_at) WHERE outcome IS NULL AND check_at IS NOT NULL;
CREATE TABLE validation.observations (
  rule text NOT NULL, seq bigint NOT NULL, s uuid, pair text, doc jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (rule, seq));
CREATE UNIQUE INDEX observations_of_session ON validation.observations (rule, s) WHERE s IS NOT NULL;
CREATE UNIQUE INDEX observations_of_pair ON validation.observations (rule, pair) WHERE pair IS NOT NULL;
CREATE TABLE validation.fired (s uuid NOT NULL, t bigint NOT NULL, signatures text[] NOT NULL, PRIMARY KEY (s, t));
ALTER TABLE scoring.turns ADD COLUMN final boolean NOT NULL DEFAULT false;`;

/** What the services are granted over the tables of this migration, in the words of migration 2. */
export const grantsOfTrials: Readonly<Record<string, readonly string[]>> = {
  fm_validation: [
    'SELECT, INSERT, UPDATE ON validation.trials, validation.trial_sessions, validation.fired',
    'SELECT, INSERT ON validation.observations',
    'UPDATE (allocation) ON rules.rules',
  ],
  fm_gateway: ['SELECT ON validation.trials, validation.trial_sessions, validation.observations'],
};

export class Trials1764500000006 implements MigrationInterface {
  readonly name = 'Trials1764500000006';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    for (const [role, allowed] of Object.entries(grantsOfTrials))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP TABLE validation.trials, validation.trial_sessions, validation.observations, validation.fired;
       ALTER TABLE scoring.turns DROP COLUMN final`,
    );
  }
}
