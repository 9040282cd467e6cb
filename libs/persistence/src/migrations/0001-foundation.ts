import type { MigrationInterface, QueryRunner } from 'typeorm';

const SERVICES_WITH_OUTBOX = ['scoring', 'gating', 'mailbox', 'validation', 'repair'];

/** Near-empty tables with much traffic: vacuum by count, since a share of nothing never comes. */
const QUEUE_TABLE =
  'WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1)';

const edge = `
CREATE SCHEMA edge;
CREATE TABLE edge.projects (project text PRIMARY KEY, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE edge.settings (
  project text NOT NULL REFERENCES edge.projects, version int NOT NULL, doc jsonb NOT NULL,
  author text NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (project, version));
CREATE TABLE edge.api_keys (
  id text PRIMARY KEY, project text NOT NULL REFERENCES edge.projects, name text NOT NULL, hash bytea NOT NULL UNIQUE, scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(), expires_at timestamptz, revoked_at timestamptz);
CREATE INDEX api_keys_project ON edge.api_keys (project);
CREATE TABLE edge.bodies (hash text PRIMARY KEY, project text NOT NULL, body bytea NOT NULL, created_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE edge.redrives (sequence bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now());
INSERT INTO edge.projects (project) VALUES ('default');`;

const scoring = `
CREATE SCHEMA scoring;
CREATE TABLE scoring.sessions (
  s uuid PRIMARY KEY, project text NOT NULL, session text NOT NULL, agent text, first_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX sessions_recent ON scoring.sessions (project, first_at DESC, s);
CREATE TABLE scoring.configs (id text PRIMARY KEY, doc jsonb NOT NULL);
CREATE TABLE scoring.turns (
  s uuid NOT NULL, t bigint NOT NULL, project text NOT NULL, accepted_us bigint NOT NULL, body_sha bytea NOT NULL,
  config text NOT NULL, wait_until timestamptz, answered_0 smallint NOT NULL DEFAULT 0, answered_1 smallint NOT NULL DEFAULT 0,
  answered_2 smallint NOT NULL DEFAULT 0, answered_3 smallint NOT NULL DEFAULT 0, partial boolean NOT NULL DEFAULT false, skipped text,
  agent_version text, model text, end_state jsonb, scope_hints jsonb, PRIMARY KEY (s, t)) WITH (fillfactor = 90);
CREATE INDEX turns_waiting ON scoring.turns (wait_until) WHERE wait_until IS NOT NULL;
CREATE INDEX turns_accepted ON scoring.turns USING brin (accepted_us);
CREATE TABLE scoring.turn_bodies (s uuid NOT NULL, t bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE scoring.scores (
  s uuid NOT NULL, t bigint NOT NULL, tier smallint NOT NULL, trace text NOT NULL, metric text NOT NULL, source text NOT NULL, evaluator text NOT NULL,
  ordinal int NOT NULL, status text NOT NULL, value double precision, reason text, code text, spans text[] NOT NULL DEFAULT '{}',
  at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (s, t, trace, metric, evaluator));
CREATE TABLE scoring.posted_scores (
  s uuid NOT NULL, t bigint NOT NULL, project text NOT NULL, session text NOT NULL, trace text NOT NULL, metric text NOT NULL,
  value double precision, reason text, attached boolean NOT NULL DEFAULT false, at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (s, t, metric, trace));
CREATE INDEX posted_scores_unattached ON scoring.posted_scores (s, t) WHERE NOT attached AND metric = 'outcome_correct';`;

const gating = `
CREATE SCHEMA gating;
CREATE TABLE gating.heads (
  s uuid PRIMARY KEY, project text NOT NULL, session text NOT NULL, last_t bigint NOT NULL DEFAULT -1, state jsonb NOT NULL DEFAULT '{"tracks":{},"standing":[]}',
  alerting boolean NOT NULL DEFAULT false, blocked_t bigint) WITH (fillfactor = 70);
CREATE INDEX heads_alerting ON gating.heads (project, s) WHERE alerting;
CREATE TABLE gating.turn_evals (
  s uuid NOT NULL, t bigint NOT NULL, accepted_us bigint NOT NULL, config text NOT NULL, evidence jsonb NOT NULL, signals jsonb NOT NULL,
  partial boolean NOT NULL, skipped text, state jsonb NOT NULL, fired text[] NOT NULL, standing text[] NOT NULL, measured boolean NOT NULL,
  requested smallint NOT NULL DEFAULT 0, rev int NOT NULL DEFAULT 0, digest text NOT NULL DEFAULT '', folded boolean NOT NULL DEFAULT true,
  report jsonb,
  PRIMARY KEY (s, t)) WITH (fillfactor = 90);
CREATE INDEX turn_evals_standing ON gating.turn_evals (s, t) WHERE standing <> '{}';`;

const mailbox = `
CREATE SCHEMA mailbox;
CREATE TABLE mailbox.session_alerts (
  s uuid PRIMARY KEY, project text NOT NULL, session text NOT NULL, folded_t bigint NOT NULL DEFAULT -1, memory jsonb,
  counted boolean NOT NULL DEFAULT false) WITH (fillfactor = 70);
CREATE TABLE mailbox.alert_turns (
  s uuid NOT NULL, t bigint NOT NULL, memory jsonb, posted boolean NOT NULL, recovered boolean NOT NULL,
  signatures text[] NOT NULL, PRIMARY KEY (s, t));
CREATE TABLE mailbox.breakers (project text PRIMARY KEY, counted double precision[] NOT NULL DEFAULT '{}', open boolean NOT NULL DEFAULT false);
CREATE INDEX breakers_open ON mailbox.breakers (project) WHERE open;
CREATE TABLE mailbox.incidents (
  id text PRIMARY KEY, project text NOT NULL, fingerprint text, status text NOT NULL DEFAULT 'open', opened_by text NOT NULL DEFAULT '', opened_at timestamptz NOT NULL DEFAULT now());
CREATE UNIQUE INDEX incidents_live ON mailbox.incidents (project, md5(fingerprint)) WHERE status IN ('open', 'suppressed') AND fingerprint IS NOT NULL;
CREATE INDEX incidents_recent ON mailbox.incidents (project, opened_at DESC, id);
CREATE TABLE mailbox.episodes (
  id text PRIMARY KEY, project text NOT NULL, s uuid NOT NULL, t bigint NOT NULL, session text NOT NULL, incident_id text NOT NULL,
  notice_ids text[] NOT NULL, status text NOT NULL DEFAULT 'open', attempt int NOT NULL DEFAULT 1, recommended_scope text, opened_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX episodes_turn ON mailbox.episodes (s, t);
CREATE INDEX episodes_recent ON mailbox.episodes (project, opened_at DESC, id);
CREATE INDEX episodes_live ON mailbox.episodes (incident_id, opened_at, id) WHERE status <> 'void';
CREATE TABLE mailbox.notices (
  id text PRIMARY KEY, project text NOT NULL, session text NOT NULL, s uuid NOT NULL, t bigint NOT NULL, severity text NOT NULL, status text NOT NULL,
  signatures text[] NOT NULL, summary text NOT NULL, metrics jsonb NOT NULL, flagged_traces text[] NOT NULL, scope_hints jsonb NOT NULL,
  recommended_scope text, fingerprint text, incident_id text, episode_id text, passage text NOT NULL, corrections int NOT NULL DEFAULT 0, resolution jsonb, posted_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (s, t, signatures));
CREATE INDEX notices_recent ON mailbox.notices (project, posted_at DESC, id);
CREATE INDEX notices_by_status ON mailbox.notices (project, status, posted_at DESC);`;

const rest = `
CREATE SCHEMA evalset;
CREATE TABLE evalset.cases (
  id text PRIMARY KEY, project text NOT NULL, s uuid NOT NULL, session text NOT NULL, kind text NOT NULL, signatures text[] NOT NULL,
  baseline jsonb NOT NULL, replay_input jsonb, notes text NOT NULL, notice_id text, created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (s, signatures, kind));
CREATE INDEX cases_recent ON evalset.cases (project, kind, created_at);
CREATE SCHEMA validation;
CREATE TABLE validation.session_ends (s uuid PRIMARY KEY, project text NOT NULL, session text NOT NULL, ended_us bigint NOT NULL, reason text);
CREATE SCHEMA repair;
CREATE SCHEMA journal;
CREATE TABLE journal.events (
  id text PRIMARY KEY, project text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), type text NOT NULL, s uuid, session text, t bigint,
  episode text, rule text, doc jsonb NOT NULL DEFAULT '{}');
CREATE INDEX events_recent ON journal.events (project, at DESC, id);
CREATE INDEX events_by_type ON journal.events (project, type, at DESC);
CREATE INDEX events_by_session ON journal.events (s, at DESC) WHERE s IS NOT NULL;`;

const queues = SERVICES_WITH_OUTBOX.map(
  (service) => `
CREATE TABLE ${service}.outbox (
  id text PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, subject text NOT NULL, headers jsonb, payload text NOT NULL, created_at timestamptz NOT NULL DEFAULT now()) ${QUEUE_TABLE};
CREATE TABLE ${service}.attempts (
  consumer text NOT NULL, event text NOT NULL, attempts int NOT NULL, last_error text, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (consumer, event)) ${QUEUE_TABLE};`,
).join('');

/** lz4 costs a third of the default compression; a server built without it keeps the default. */
const compression = `
DO $$ BEGIN
  ALTER TABLE scoring.turn_bodies ALTER COLUMN body SET COMPRESSION lz4;
  ALTER TABLE edge.bodies ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  ALTER TABLE scoring.turn_bodies ALTER COLUMN body SET STORAGE EXTERNAL;
  ALTER TABLE edge.bodies ALTER COLUMN body SET STORAGE EXTERNAL;
END $$;`;

export class Foundation1764500000001 implements MigrationInterface {
  readonly name = 'Foundation1764500000001';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [edge, scoring, gating, mailbox, rest, queues, compression]) await runner.query(sql);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP SCHEMA edge, scoring, gating, mailbox, evalset, validation, repair, journal CASCADE');
  }
}
