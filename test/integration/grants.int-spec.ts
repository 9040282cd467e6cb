import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource, grants } from '#persistence';
import { testDatabase, type TestDatabase } from '#testing';

let db: TestDatabase;
const sources = new Map<string, DataSource>();

beforeAll(async () => {
  db = await testDatabase();
  for (const role of Object.keys(grants))
    sources.set(role, await createDataSource({ url: db.url, role, name: 'test', poolSize: 1 }).initialize());
});
afterAll(async () => {
  for (const source of sources.values()) await source.destroy();
  await db.drop();
});

const as = (role: string, sql: string): Promise<unknown> =>
  sources.get(role)?.query(sql) ?? Promise.reject(new Error(`no role ${role}`));
const one = '00000000-0000-0000-0000-000000000001';

/** What somebody else's service could gain from; each is refused by the database, not by convention. */
const forbidden: [string, string][] = [
  ['fm_gateway', `UPDATE mailbox.notices SET status = 'acknowledged'`],
  [
    'fm_gateway',
    `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status) VALUES ('${one}', 0, 1, '', 'm', 's', 'e', 0, 'scored')`,
  ],
  ['fm_gateway', `UPDATE edge.api_keys SET hash = '\\x00'`],
  ['fm_scoring', `UPDATE scoring.turns SET accepted_us = 0`],
  ['fm_scoring', `INSERT INTO gating.heads (s, project, session) VALUES ('${one}', 'default', 's')`],
  ['fm_scoring', `DELETE FROM scoring.turn_bodies`],
  ['fm_gating', `SELECT * FROM scoring.turn_bodies`],
  ['fm_gating', `INSERT INTO mailbox.breakers (project) VALUES ('default')`],
  ['fm_mailbox', `SELECT * FROM scoring.turn_bodies`],
  ['fm_mailbox', `UPDATE gating.turn_evals SET standing = '{}'`],
  ['fm_validation', `INSERT INTO mailbox.notices (id) VALUES ('n')`],
  ['fm_gateway', `UPDATE evalset.cases SET kind = 'win'`],
  ['fm_gateway', `UPDATE evalset.versions SET version = 9`],
  ['fm_mailbox', `UPDATE evalset.cases SET replay_input = '1'`],
  ['fm_validation', `SELECT evalset.advance('default')`],
  ['fm_validation', `DELETE FROM evalset.cases`],
  ['fm_repair', `SELECT * FROM evalset.cases`],
  ['fm_repair', `SELECT * FROM scoring.turns`],
  ['fm_repair', `SELECT * FROM scoring.turn_bodies`],
  ['fm_repair', `SELECT * FROM mailbox.notices`],
  ['fm_repair', `INSERT INTO scoring.outbox (id, subject, payload) VALUES ('x', 'y', 'z')`],
  ...Object.keys(grants).map((role): [string, string] => [role, `DELETE FROM journal.events`]),
  ...Object.keys(grants).map((role): [string, string] => [role, `UPDATE journal.events SET type = 'nothing'`]),
  ...Object.keys(grants).map((role): [string, string] => [role, `CREATE TABLE edge.mine (a int)`]),
  ...Object.keys(grants)
    .filter((role) => role !== 'fm_gateway')
    .map((role): [string, string] => [
      role,
      `INSERT INTO edge.settings (project, version, doc, author) VALUES ('default', 9, '{}', 'x')`,
    ]),
];

describe('the database', () => {
  it.each(forbidden)('refuses %s: %s', async (role, sql) => {
    await expect(as(role, sql)).rejects.toThrow(/permission denied/);
  });
  it.each(Object.keys(grants))('lets %s write to the journal, and see which projects there are', async (role) => {
    await as(role, `INSERT INTO journal.events (id, project, type) VALUES ('${role}', 'default', 'test')`);
    expect(await as(role, 'SELECT project FROM edge.projects')).toEqual([{ project: 'default' }]);
  });
  it('has one writer for every column of every table', async () => {
    const writers = await db.query<{ place: string; roles: string[] }>(
      `SELECT c.table_schema || '.' || c.table_name || '.' || c.column_name AS place, array_agg(DISTINCT r.rolname::text) AS roles
       FROM information_schema.columns c CROSS JOIN pg_roles r
       WHERE r.rolname LIKE 'fm\\_%' AND c.table_schema IN ('edge', 'scoring', 'gating', 'mailbox', 'evalset', 'validation', 'repair')
         AND has_column_privilege(r.oid, (quote_ident(c.table_schema) || '.' || quote_ident(c.table_name))::regclass, c.column_name, 'UPDATE')
       GROUP BY 1`,
    );
    expect(writers.length).toBeGreaterThan(30);
    expect(writers.filter(({ roles }) => roles.length > 1)).toEqual([]);
  });
});
