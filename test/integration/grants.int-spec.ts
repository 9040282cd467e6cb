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
  ['fm_gateway', `UPDATE rules.rules SET rule = 'another'`],
  ['fm_gateway', `DELETE FROM rules.rules`],
  ['fm_gateway', `INSERT INTO validation.exposures (s) VALUES ('${one}')`],
  ['fm_gateway', `INSERT INTO repair.runs (episode) VALUES ('e')`],
  ['fm_scoring', `UPDATE scoring.turns SET accepted_us = 0`],
  ['fm_scoring', `INSERT INTO gating.heads (s, project, session) VALUES ('${one}', 'default', 's')`],
  ['fm_scoring', `DELETE FROM scoring.turn_bodies`],
  ['fm_gating', `SELECT * FROM scoring.turn_bodies`],
  ['fm_gating', `INSERT INTO mailbox.breakers (project) VALUES ('default')`],
  ['fm_mailbox', `SELECT * FROM scoring.turn_bodies`],
  ['fm_mailbox', `UPDATE gating.turn_evals SET standing = '{}'`],
  ['fm_validation', `INSERT INTO mailbox.notices (id) VALUES ('n')`],
  ['fm_validation', `INSERT INTO rules.rules (id) VALUES ('r')`],
  ['fm_validation', `UPDATE validation.exposures SET t = 0`],
  ['fm_gateway', `UPDATE evalset.cases SET kind = 'win'`],
  ['fm_gateway', `UPDATE evalset.versions SET version = 9`],
  ['fm_mailbox', `UPDATE evalset.cases SET replay_input = '1'`],
  ['fm_validation', `SELECT evalset.advance('default')`],
  ['fm_validation', `DELETE FROM evalset.cases`],
  ['fm_repair', `SELECT * FROM evalset.cases`],
  ['fm_repair', `SELECT * FROM scoring.turns`],
  ['fm_repair', `SELECT * FROM scoring.turn_bodies`],
  ['fm_repair', `SELECT * FROM mailbox.notices`],
  ['fm_repair', `SELECT * FROM scoring.scores`],
  ['fm_repair', `SELECT * FROM mailbox.episodes`],
  ['fm_repair', `SELECT * FROM scoring.spend`],
  ['fm_repair', `INSERT INTO scoring.outbox (id, subject, payload) VALUES ('x', 'y', 'z')`],
  ['fm_repair', `UPDATE rules.rules SET status = 'active'`],
  ['fm_repair', `UPDATE rules.rules SET rule = 'another'`],
  ['fm_repair', `UPDATE rules.versions SET version = version + 1`],
  [
    'fm_repair',
    `INSERT INTO rules.rules (id, project, seq, rule, rationale, scope, author, normal_hash) VALUES ('r', 'default', 1, 'x', 'y', 'global', 'z', 'h')`,
  ],
  ['fm_repair', `INSERT INTO rules.scopes (project, scope, description, seq) VALUES ('default', 'x', 'y', 1)`],
  ['fm_repair', `DELETE FROM rules.rules`],
  ['fm_repair', `UPDATE mailbox.notices SET status = 'acknowledged'`],
  ['fm_repair', `UPDATE mailbox.incidents SET status = 'covered'`],
  ['fm_repair', `UPDATE repair.work SET lease = gen_random_uuid()`],
  ['fm_repair', `INSERT INTO repair.runs (episode, run, project) VALUES ('e', 1, 'default')`],
  ['fm_repair', `INSERT INTO validation.exposures SELECT * FROM validation.exposures`],
  ['fm_repair', `SELECT repair.release('e', 'i')`],
  ['fm_gateway', `UPDATE rules.rules SET rule = 'another'`],
  ['fm_gateway', `UPDATE repair.work SET lease = gen_random_uuid()`],
  ['fm_validation', `INSERT INTO rules.rules (id) VALUES ('r')`],
  ['fm_scoring', `UPDATE rules.rules SET status = 'active'`],
  ['fm_mailbox', `UPDATE repair.work SET state = 'done'`],
  ...Object.keys(grants)
    .filter((role) => role !== 'fm_repair')
    .map((role): [string, string] => [role, `SELECT repair.claim(gen_random_uuid(), 60, '[]')`]),
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

/** An episode that another worker holds, and one whose lease is over. */
const LIVE = '00000000-0000-0000-0000-00000000000a';
const OVER = '00000000-0000-0000-0000-00000000000b';

describe('what repair may do outside its schema', () => {
  beforeAll(async () => {
    await db.query(
      `INSERT INTO repair.work (episode, project, incident, s, session, t, state, lease, leased_until, runs) VALUES
       ('e-live', 'default', 'i-1', $1, 's', 0, 'running', $2, now() + interval '1 hour', 1),
       ('e-over', 'default', 'i-2', $1, 's', 0, 'running', $3, now() - interval '1 second', 1),
       ('e-done', 'default', 'i-3', $1, 's', 0, 'done', $3, now() + interval '1 hour', 1)`,
      [one, LIVE, OVER],
    );
  });
  const calls = (episode: string, lease: string): string[] => [
    `SELECT repair.read_episode('${episode}', '${lease}')`,
    `SELECT repair.read_trace('${episode}', '${lease}', 't')`,
    `SELECT repair.lock_rules('${episode}', '${lease}')`,
    `SELECT repair.add_candidate('${episode}', '${lease}', '{}')`,
    `SELECT * FROM repair.settle('${episode}', '${lease}', '{}', '{"status": "no_proposal"}')`,
    `SELECT repair.give_back('${episode}', '${lease}', '{"status": "failed"}', true, 0, false)`,
  ];
  it.each([
    ...calls('e-live', OVER),
    ...calls('e-live', '00000000-0000-0000-0000-000000000000'),
    ...calls('e-over', OVER),
    ...calls('e-done', OVER),
    ...calls('e-nobody', LIVE),
  ])('needs a live lease: %s', async (sql) => {
    await expect(as('fm_repair', sql)).rejects.toThrow(/the lease of episode .* is over/);
  });
  it('does not renew a lease that is over, or of somebody else', async () => {
    expect(await as('fm_repair', `SELECT repair.renew('e-over', '${OVER}', 60) AS live`)).toEqual([{ live: false }]);
    expect(await as('fm_repair', `SELECT repair.renew('e-live', '${OVER}', 60) AS live`)).toEqual([{ live: false }]);
  });
});

describe('the database', () => {
  it.each(forbidden)('refuses %s: %s', async (role, sql) => {
    await expect(as(role, sql)).rejects.toThrow(/permission denied/);
  });
  it.each(Object.keys(grants))('lets %s write to the journal, and see which projects there are', async (role) => {
    await as(role, `INSERT INTO journal.events (id, project, type) VALUES ('${role}', 'default', 'test')`);
    expect(await as(role, 'SELECT project FROM edge.projects')).toEqual([{ project: 'default' }]);
  });
  it('lets gateway and validation both change the state of rules, and has one writer for every other column', async () => {
    const writers = await db.query<{ place: string; roles: string[] }>(
      `SELECT c.table_schema || '.' || c.table_name || '.' || c.column_name AS place, array_agg(DISTINCT r.rolname::text) AS roles
       FROM information_schema.columns c CROSS JOIN pg_roles r
       WHERE r.rolname LIKE 'fm\\_%' AND c.table_schema IN ('edge', 'scoring', 'gating', 'mailbox', 'evalset', 'validation', 'repair', 'rules', 'gateway')
         AND has_column_privilege(r.oid, (quote_ident(c.table_schema) || '.' || quote_ident(c.table_name))::regclass, c.column_name, 'UPDATE')
       GROUP BY 1`,
    );
    expect(writers.length).toBeGreaterThan(30);
    const shared = writers.filter(({ roles }) => roles.length > 1);
    expect(new Set(shared.flatMap(({ roles }) => roles))).toEqual(new Set(['fm_gateway', 'fm_validation']));
    const state = [
      'seq',
      'status',
      'hold',
      'held_until',
      'withdrawn_at',
      'changed_at',
      'promoted_at',
      'retired_at',
      'retired_reason',
    ];
    expect(shared.map(({ place }) => place).sort()).toEqual(
      [...state.map((column) => `rules.rules.${column}`), 'rules.versions.at', 'rules.versions.version'].sort(),
    );
  });
});
