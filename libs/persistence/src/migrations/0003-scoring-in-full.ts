import type { MigrationInterface, QueryRunner } from 'typeorm';

const QUEUE_TABLE =
  'WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1)';

const tables = `
ALTER TABLE scoring.scores ADD COLUMN provider text, ADD COLUMN model text, ADD COLUMN prompt_hash text, ADD COLUMN tokens_in int,
  ADD COLUMN tokens_out int, ADD COLUMN cost_usd double precision, ADD COLUMN latency_ms int, ADD COLUMN attempts int;
ALTER TABLE scoring.turns ALTER COLUMN answered_0 TYPE int, ALTER COLUMN answered_1 TYPE int, ALTER COLUMN answered_2 TYPE int, ALTER COLUMN answered_3 TYPE int;
ALTER TABLE scoring.sessions ADD COLUMN turns_seen int, ADD COLUMN last_admitted_us bigint;
DROP INDEX scoring.posted_scores_unattached;
CREATE INDEX posted_scores_unattached ON scoring.posted_scores (at) WHERE NOT attached;
CREATE TABLE scoring.tier_waits (
  s uuid NOT NULL, t bigint NOT NULL, tier smallint NOT NULL, until timestamptz NOT NULL, traceparent text, PRIMARY KEY (s, t, tier)) ${QUEUE_TABLE};
CREATE INDEX tier_waits_until ON scoring.tier_waits (until);
CREATE TABLE scoring.score_jobs (
  s uuid NOT NULL, t bigint NOT NULL, tier smallint NOT NULL, provider text NOT NULL, lane text NOT NULL, project text NOT NULL, round bigint NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(), run_after timestamptz NOT NULL DEFAULT now(), expires_at timestamptz NOT NULL,
  lease uuid, leased_until timestamptz, claims int NOT NULL DEFAULT 0, attempts int NOT NULL DEFAULT 0, reserved_usd double precision NOT NULL DEFAULT 0,
  evals int NOT NULL, last_error text, refusals int NOT NULL DEFAULT 0, refused_at timestamptz, PRIMARY KEY (s, t, tier, provider)) ${QUEUE_TABLE};
CREATE INDEX score_jobs_next ON scoring.score_jobs (lane, project, provider, round, asked_at, s, t, tier);
CREATE INDEX score_jobs_of_session ON scoring.score_jobs (s, provider, round);
CREATE INDEX score_jobs_expiry ON scoring.score_jobs (expires_at);
CREATE INDEX score_jobs_reserved ON scoring.score_jobs (project) WHERE reserved_usd > 0;
CREATE TABLE scoring.provider_blocks (
  project text NOT NULL, provider text NOT NULL, code text NOT NULL, detail text NOT NULL, since timestamptz NOT NULL DEFAULT now(),
  probe_at timestamptz NOT NULL, probes int NOT NULL DEFAULT 0, PRIMARY KEY (project, provider));
CREATE TABLE scoring.judge_stages (
  s uuid NOT NULL, t bigint NOT NULL, trace text NOT NULL, stage text NOT NULL, result jsonb NOT NULL, PRIMARY KEY (s, t, trace, stage));
CREATE TABLE scoring.model_capabilities (endpoint text NOT NULL, model text NOT NULL, doc jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (endpoint, model));
CREATE TABLE scoring.budgets (
  project text PRIMARY KEY, window_from timestamptz NOT NULL DEFAULT now(), admitted int NOT NULL DEFAULT 0, skipped int NOT NULL DEFAULT 0);
CREATE TABLE scoring.spend (project text NOT NULL, day date NOT NULL, cost_usd double precision NOT NULL, PRIMARY KEY (project, day));
CREATE TABLE scoring.usage (
  project text NOT NULL, day date NOT NULL, metric text NOT NULL, tier smallint NOT NULL, model text NOT NULL, s uuid NOT NULL, evals int NOT NULL,
  calls int NOT NULL, tokens_in bigint NOT NULL, tokens_out bigint NOT NULL, cost_usd double precision NOT NULL, unpriced_calls int NOT NULL,
  PRIMARY KEY (project, day, metric, tier, model, s));
CREATE TABLE scoring.verifiers (project text PRIMARY KEY, answered_at timestamptz NOT NULL);`;

/** What the services are granted over the tables of this migration, in the words of migration 2. */
export const grantsOfScoringInFull: Readonly<Record<string, readonly string[]>> = {
  fm_scoring: [
    'UPDATE (skipped) ON scoring.turns',
    'UPDATE (turns_seen, last_admitted_us) ON scoring.sessions',
    'UPDATE (evaluator, provider, model, prompt_hash, tokens_in, tokens_out, cost_usd, latency_ms, attempts) ON scoring.scores',
    'SELECT, INSERT, UPDATE, DELETE ON scoring.tier_waits, scoring.score_jobs, scoring.provider_blocks',
    'SELECT, INSERT, UPDATE ON scoring.model_capabilities, scoring.budgets, scoring.spend, scoring.usage, scoring.verifiers',
    'SELECT, INSERT ON scoring.judge_stages',
  ],
  fm_gateway: [
    'SELECT ON scoring.tier_waits, scoring.score_jobs, scoring.provider_blocks, scoring.budgets, scoring.spend, scoring.usage',
  ],
};

export class ScoringInFull1764500000003 implements MigrationInterface {
  readonly name = 'ScoringInFull1764500000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    for (const [role, allowed] of Object.entries(grantsOfScoringInFull))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP TABLE scoring.tier_waits, scoring.score_jobs, scoring.provider_blocks, scoring.judge_stages, scoring.model_capabilities,
         scoring.budgets, scoring.spend, scoring.usage, scoring.verifiers;
       ALTER TABLE scoring.turns ALTER COLUMN answered_0 TYPE smallint, ALTER COLUMN answered_1 TYPE smallint, ALTER COLUMN answered_2 TYPE smallint,
         ALTER COLUMN answered_3 TYPE smallint;
       ALTER TABLE scoring.sessions DROP COLUMN turns_seen, DROP COLUMN last_admitted_us;
       ALTER TABLE scoring.scores DROP COLUMN provider, DROP COLUMN model, DROP COLUMN prompt_hash, DROP COLUMN tokens_in,
         DROP COLUMN tokens_out, DROP COLUMN cost_usd, DROP COLUMN latency_ms, DROP COLUMN attempts;
       DROP INDEX scoring.posted_scores_unattached;
       CREATE INDEX posted_scores_unattached ON scoring.posted_scores (s, t) WHERE NOT attached AND metric = 'outcome_correct'`,
    );
  }
}
