import type { MigrationInterface, QueryRunner } from 'typeorm';
import { repairFunctions, repairFunctionNames } from './0005-repair-functions.js';

const QUEUE_TABLE =
  'WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_insert_threshold = -1)';

/**
 * `rules.seq` is the version of the project at the rule's last change: who knows version v reads what has a higher one.
 * `allocation`: the share of sessions that see it as a candidate; the same for its whole trial, whatever the setting becomes.
 */
const rules = `
CREATE SCHEMA rules;
CREATE TABLE rules.versions (project text PRIMARY KEY REFERENCES edge.projects, version bigint NOT NULL DEFAULT 0, at timestamptz NOT NULL DEFAULT now());
CREATE TABLE rules.rules (
  id text PRIMARY KEY, project text NOT NULL REFERENCES edge.projects, seq bigint NOT NULL, rule text NOT NULL, rationale text NOT NULL, metric text,
  tags text[] NOT NULL DEFAULT '{}', scope text NOT NULL, scope_rationale text, applicability text, failure_signatures text[] NOT NULL DEFAULT '{}',
  source_notices text[] NOT NULL DEFAULT '{}', episode text, edited_from text, author text NOT NULL, model text, normal_hash text NOT NULL, allocation double precision NOT NULL DEFAULT 0.5,
  status text NOT NULL DEFAULT 'candidate' CHECK (status IN ('candidate', 'active', 'retired')),
  hold text CHECK (hold IN ('approval', 'veto')), held_until timestamptz, withdrawn_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(), changed_at timestamptz NOT NULL DEFAULT now(), promoted_at timestamptz, retired_at timestamptz, retired_reason text,
  CHECK ((hold = 'veto') = (held_until IS NOT NULL) OR hold IS NULL));
CREATE UNIQUE INDEX rules_live_text ON rules.rules (project, normal_hash) WHERE status <> 'retired';
CREATE UNIQUE INDEX rules_of_episode ON rules.rules (episode) WHERE episode IS NOT NULL AND edited_from IS NULL;
CREATE INDEX rules_changed ON rules.rules (project, seq);
CREATE INDEX rules_recent ON rules.rules (project, created_at DESC, id);
CREATE INDEX rules_held ON rules.rules (held_until) WHERE status = 'candidate' AND held_until IS NOT NULL;
CREATE TABLE rules.scopes (
  project text NOT NULL REFERENCES edge.projects, scope text NOT NULL, description text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (project, scope));
CREATE INDEX scopes_changed ON rules.scopes (project, seq);`;

const repair = `
CREATE TABLE repair.work (
  episode text PRIMARY KEY, project text NOT NULL, incident text NOT NULL, s uuid NOT NULL, session text NOT NULL, t bigint NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'blocked', 'done')), waits_for text,
  run_after timestamptz NOT NULL DEFAULT now(), runs int NOT NULL DEFAULT 0, failures int NOT NULL DEFAULT 0,
  lease uuid, leased_until timestamptz, last_error text, queued_at timestamptz NOT NULL DEFAULT now()) ${QUEUE_TABLE};
CREATE UNIQUE INDEX work_running ON repair.work (incident) WHERE state = 'running';
CREATE INDEX work_next ON repair.work (run_after, queued_at) WHERE state IN ('waiting', 'running');
CREATE INDEX work_of_project ON repair.work (project, state);
CREATE TABLE repair.runs (
  episode text NOT NULL, run int NOT NULL, project text NOT NULL, model text, started_at timestamptz NOT NULL DEFAULT clock_timestamp(), ended_at timestamptz,
  status text, result jsonb, PRIMARY KEY (episode, run));
CREATE INDEX runs_recent ON repair.runs (project, started_at DESC);
CREATE TABLE repair.model_capabilities (endpoint text NOT NULL, model text NOT NULL, doc jsonb NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (endpoint, model));`;

const others = `
ALTER TABLE edge.projects ADD COLUMN salt text NOT NULL DEFAULT gen_random_uuid()::text;
ALTER TABLE mailbox.episodes ADD COLUMN settled_at timestamptz, ADD COLUMN outcome jsonb;
ALTER TABLE mailbox.incidents ADD COLUMN rule_id text;
DROP INDEX mailbox.incidents_live;
CREATE UNIQUE INDEX incidents_live ON mailbox.incidents (project, md5(fingerprint)) WHERE status IN ('open', 'suppressed', 'covered') AND fingerprint IS NOT NULL;
DROP INDEX mailbox.episodes_live;
CREATE INDEX episodes_live ON mailbox.episodes (incident_id, opened_at, id) WHERE status IN ('open', 'claimed');
CREATE INDEX episodes_live_of_session ON mailbox.episodes (s, t) WHERE status IN ('open', 'claimed');
CREATE TABLE validation.exposures (
  s uuid NOT NULL, read_id text NOT NULL, project text NOT NULL, session text NOT NULL, t bigint, kind text NOT NULL, version bigint NOT NULL,
  rule_ids text[] NOT NULL, withheld_ids text[] NOT NULL, at_us bigint NOT NULL, stored_us bigint NOT NULL, PRIMARY KEY (s, read_id));
CREATE INDEX exposures_by_rule ON validation.exposures USING gin (rule_ids);
CREATE SCHEMA gateway;
CREATE TABLE gateway.outbox (
  id text PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, subject text NOT NULL, headers jsonb, payload text NOT NULL, created_at timestamptz NOT NULL DEFAULT now()) ${QUEUE_TABLE};
CREATE TABLE gateway.attempts (
  consumer text NOT NULL, event text NOT NULL, attempts int NOT NULL, last_error text, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (consumer, event)) ${QUEUE_TABLE};
CREATE INDEX events_by_episode ON journal.events (episode, at DESC) WHERE episode IS NOT NULL;
CREATE INDEX events_by_rule ON journal.events (rule, at DESC) WHERE rule IS NOT NULL;`;

const STATE_OF_RULES =
  'UPDATE (seq, status, hold, held_until, withdrawn_at, changed_at, promoted_at, retired_at, retired_reason) ON rules.rules';

/** What the services are granted over the tables of this migration, in the words of migration 2. Repair has functions instead. */
export const grantsOfRulesAndRepair: Readonly<Record<string, readonly string[]>> = {
  fm_gateway: [
    'SELECT, INSERT ON rules.rules, rules.scopes, rules.versions',
    STATE_OF_RULES,
    'UPDATE (description, seq) ON rules.scopes',
    'UPDATE (version, at) ON rules.versions',
    'SELECT ON repair.work, repair.runs, validation.exposures, validation.session_ends, mailbox.alert_turns',
    'UPDATE (state, waits_for, run_after, failures) ON repair.work',
    'SELECT, INSERT, UPDATE, DELETE ON gateway.outbox, gateway.attempts',
  ],
  fm_validation: [
    'SELECT ON rules.rules, rules.scopes, rules.versions',
    STATE_OF_RULES,
    'UPDATE (version, at) ON rules.versions',
    'SELECT, INSERT ON validation.exposures',
  ],
  fm_repair: [
    'SELECT ON rules.rules, rules.scopes, rules.versions, repair.work, repair.runs',
    'SELECT, INSERT, UPDATE ON repair.model_capabilities',
  ],
};

const ROLES = ['fm_gateway', 'fm_scoring', 'fm_gating', 'fm_mailbox', 'fm_validation', 'fm_repair'];

export class RulesAndRepair1764500000005 implements MigrationInterface {
  readonly name = 'RulesAndRepair1764500000005';

  async up(runner: QueryRunner): Promise<void> {
    for (const sql of [rules, repair, others, repairFunctions]) await runner.query(sql);
    for (const role of ROLES) await runner.query(`GRANT USAGE ON SCHEMA rules, gateway TO ${role}`);
    for (const [role, allowed] of Object.entries(grantsOfRulesAndRepair))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
    const { forRepair, inside } = repairFunctionNames;
    for (const name of [...forRepair, ...inside]) await runner.query(`REVOKE ALL ON FUNCTION repair.${name} FROM PUBLIC`);
    for (const name of forRepair) await runner.query(`GRANT EXECUTE ON FUNCTION repair.${name} TO fm_repair`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `${[...repairFunctionNames.forRepair, ...repairFunctionNames.inside].map((name) => `DROP FUNCTION repair.${name};`).join(' ')}
       DROP TABLE repair.work, repair.runs, repair.model_capabilities, validation.exposures;
       DROP SCHEMA rules, gateway CASCADE;
       UPDATE mailbox.incidents SET status = 'closed' WHERE status = 'covered';
       DROP INDEX mailbox.incidents_live, mailbox.episodes_live, mailbox.episodes_live_of_session, journal.events_by_episode, journal.events_by_rule;
       CREATE UNIQUE INDEX incidents_live ON mailbox.incidents (project, md5(fingerprint)) WHERE status IN ('open', 'suppressed') AND fingerprint IS NOT NULL;
       CREATE INDEX episodes_live ON mailbox.episodes (incident_id, opened_at, id) WHERE status <> 'void';
       ALTER TABLE mailbox.incidents DROP COLUMN rule_id;
       ALTER TABLE mailbox.episodes DROP COLUMN settled_at, DROP COLUMN outcome;
       ALTER TABLE edge.projects DROP COLUMN salt`,
    );
  }
}
