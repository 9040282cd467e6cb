import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { testDatabase, type TestDatabase } from '#testing';
import { createDataSource } from '../data-source.js';
import { OtlpInView1764500000009 } from './0009-otlp-in-view.js';

let database: TestDatabase;
let owner: DataSource;

beforeEach(async () => {
  database = await testDatabase();
  owner = await createDataSource({ url: database.url, role: null, name: 'test', poolSize: 1 }).initialize();
}, 60_000);

afterEach(async () => {
  await owner.destroy();
  await database.drop();
});

async function withRunner(work: (runner: ReturnType<DataSource['createQueryRunner']>) => Promise<void>): Promise<void> {
  const runner = owner.createQueryRunner();
  await runner.startTransaction();
  await work(runner);
  await runner.commitTransaction();
  await runner.release();
}

const session = (n: number): string => `00000000-0000-0000-0000-00000000000${n}`;

it('a deployment that had traces before knows how many of their spans were late, and how each session came by its turns', async () => {
  const migration = new OtlpInView1764500000009();
  await withRunner((runner) => migration.down(runner));
  for (const [n, name] of ['sent', 'spanned', 'mixed', 'without turns'].entries())
    await database.query(`INSERT INTO scoring.sessions (s, project, session) VALUES ($1, 'default', $2)`, [session(n), name]);
  const turn = (n: number, t: number) =>
    database.query(
      `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config) VALUES ($1, $2, 'default', 0, '\\x00', 'c')`,
      [session(n), t],
    );
  for (const [n, t] of [
    [0, 1],
    [1, 7],
    [2, 1],
    [2, 8],
  ] as const)
    await turn(n, t);
  await database.query(
    `INSERT INTO scoring.otel_traces (project, trace_id, state, s, t) VALUES ('default', 'a', 'turned', $1, 7), ('default', 'b', 'turned', $2, 8), ('default', 'c', 'scored', $3, 1)`,
    [session(1), session(2), session(0)],
  );
  await database.query(
    `INSERT INTO scoring.otel_spans (project, trace_id, span_id, sha, doc, ended, started, late)
     SELECT 'default', trace, span, '\\x00', '{}', true, 0, late FROM (VALUES ('a', 'x', true), ('a', 'y', true), ('a', 'z', false), ('c', 'x', false)) v(trace, span, late)`,
  );
  await withRunner((runner) => migration.up(runner));
  expect(await database.query('SELECT session, sent_turns, root_turns FROM scoring.sessions ORDER BY s')).toEqual([
    { session: 'sent', sent_turns: true, root_turns: false },
    { session: 'spanned', sent_turns: false, root_turns: true },
    { session: 'mixed', sent_turns: true, root_turns: true },
    { session: 'without turns', sent_turns: false, root_turns: false },
  ]);
  expect(await database.query('SELECT trace_id, late FROM scoring.otel_traces ORDER BY 1')).toEqual([
    { trace_id: 'a', late: 2 },
    { trace_id: 'b', late: 0 },
    { trace_id: 'c', late: 0 },
  ]);
});
