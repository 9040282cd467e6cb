import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who may do what (CONTRACTS 5), one writer per column. A service connects as its role; nobody else can write its tables.
 * Readers are named one by one: a service that is not named here cannot see the table.
 */
const SCHEMAS = 'edge, scoring, gating, mailbox, evalset, validation, repair, journal';

export const foundationGrants: Readonly<Record<string, readonly string[]>> = {
  fm_gateway: [
    'SELECT, INSERT ON edge.projects, edge.settings, edge.bodies, edge.redrives',
    'SELECT, INSERT ON edge.api_keys',
    'UPDATE (revoked_at, expires_at) ON edge.api_keys',
    'SELECT ON scoring.sessions, scoring.configs, scoring.turns, scoring.turn_bodies, scoring.scores, gating.heads, gating.turn_evals',
    'SELECT ON mailbox.notices, mailbox.episodes, mailbox.incidents, mailbox.breakers, mailbox.session_alerts, evalset.cases, journal.events',
  ],
  fm_scoring: [
    'SELECT ON edge.projects, edge.settings, edge.bodies',
    'SELECT, INSERT ON scoring.sessions, scoring.configs, scoring.turn_bodies, scoring.scores',
    'SELECT, INSERT ON scoring.turns, scoring.posted_scores',
    'UPDATE (wait_until, answered_0, answered_1, answered_2, answered_3, partial) ON scoring.turns',
    'UPDATE (attached) ON scoring.posted_scores',
    'UPDATE (status, value, reason, code, spans, at) ON scoring.scores',
    'UPDATE (agent) ON scoring.sessions',
    'SELECT, INSERT, UPDATE, DELETE ON scoring.outbox, scoring.attempts',
  ],
  fm_gating: [
    'SELECT ON edge.projects, edge.settings, scoring.configs',
    'SELECT, INSERT, UPDATE ON gating.heads, gating.turn_evals',
    'SELECT, INSERT, UPDATE, DELETE ON gating.outbox, gating.attempts',
  ],
  fm_mailbox: [
    'SELECT ON edge.projects, edge.settings, scoring.configs, scoring.turns, gating.heads, gating.turn_evals',
    'SELECT, INSERT, UPDATE ON mailbox.session_alerts, mailbox.breakers, mailbox.incidents, mailbox.episodes, mailbox.notices',
    'SELECT, INSERT, UPDATE, DELETE ON mailbox.alert_turns',
    'SELECT, INSERT, DELETE ON evalset.cases',
    'SELECT, INSERT, UPDATE, DELETE ON mailbox.outbox, mailbox.attempts',
  ],
  fm_validation: [
    'SELECT ON edge.projects, edge.settings, scoring.turns, scoring.scores, gating.turn_evals, mailbox.notices, evalset.cases',
    'SELECT, INSERT ON validation.session_ends',
    'SELECT, INSERT, UPDATE, DELETE ON validation.outbox, validation.attempts',
  ],
  fm_repair: ['SELECT ON edge.projects, edge.settings', 'SELECT, INSERT, UPDATE, DELETE ON repair.outbox, repair.attempts'],
};

export class Grants1764500000002 implements MigrationInterface {
  readonly name = 'Grants1764500000002';

  async up(runner: QueryRunner): Promise<void> {
    for (const [role, allowed] of Object.entries(foundationGrants)) {
      // Roles belong to the whole server: an administrator, or another database of it, may have made them, or be at it just now.
      await runner.query(
        `DO $$ BEGIN
           IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} NOLOGIN; END IF;
         EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
      );
      // Memberships belong to the whole server too: touched only when missing, so that two databases do not collide.
      await runner.query(
        `DO $$ BEGIN IF NOT pg_has_role(current_user, '${role}', 'MEMBER') THEN GRANT ${role} TO CURRENT_USER; END IF; END $$`,
      );
      await runner.query(`GRANT USAGE ON SCHEMA ${SCHEMAS} TO ${role}`);
      await runner.query(`GRANT INSERT ON journal.events TO ${role}`);
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const role of Object.keys(foundationGrants))
      await runner.query(`REVOKE ALL ON ALL TABLES IN SCHEMA ${SCHEMAS} FROM ${role}`);
  }
}
