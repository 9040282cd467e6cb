import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { testDatabase, type TestDatabase } from '#testing';
import { createDataSource } from './data-source.js';
import { EvalSet1764500000008 } from './migrations/0008-evalset.js';

let db: TestDatabase;
let source: DataSource;
beforeAll(async () => {
  db = await testDatabase();
  source = await createDataSource({ url: db.url, role: null, name: 'test', poolSize: 1 }).initialize();
});
afterAll(async () => {
  await source.destroy();
  await db.drop();
});

it('gives sets that are there a version, takes inputs that say nothing for none, and can be undone', async () => {
  const runner = source.createQueryRunner();
  const migration = new EvalSet1764500000008();
  await migration.down(runner);
  await db.query(
    `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, replay_input, notes)
     SELECT 'c' || n, 'default', gen_random_uuid(), 's', 'failure', '{}', '{}', input, '' FROM unnest($1::jsonb[]) WITH ORDINALITY AS i(input, n)`,
    [['{}', '[]', 'null', '{"task": 1}', '0']],
  );
  await migration.up(runner);
  expect(await db.query('SELECT id, replay_input FROM evalset.cases WHERE replay_input IS NOT NULL ORDER BY id')).toEqual([
    { id: 'c4', replay_input: { task: 1 } },
    { id: 'c5', replay_input: 0 },
  ]);
  expect(await db.query('SELECT project, version FROM evalset.versions')).toEqual([{ project: 'default', version: 1 }]);
  await runner.release();
});
