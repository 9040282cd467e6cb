import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { traceScored } from '#contracts';
import type { OutgoingMessage, PublishFailure } from '#messaging';
import { createDataSource, UnitOfWork } from '#persistence';
import { eventually, testDatabase, type TestDatabase } from '#testing';

let db: TestDatabase;
let source: DataSource;
let work: UnitOfWork;
let published: string[];
let said: (string | null)[];
let refusal: (id: string) => Omit<PublishFailure, 'index'> | null;

beforeEach(async () => {
  db = await testDatabase();
  source = await createDataSource({ url: db.url, role: 'fm_scoring', name: 'scoring' }).initialize();
  [published, said, refusal] = [[], [], () => null];
  const publish = (messages: readonly OutgoingMessage[]): Promise<PublishFailure[]> => {
    const failures = messages.flatMap(({ id }, index) => {
      const failure = refusal(String(id));
      if (failure === null) published.push(String(id));
      return failure === null ? [] : [{ index, ...failure }];
    });
    return Promise.resolve(failures);
  };
  work = new UnitOfWork(source, { publish }, 'scoring', (detail) => void said.push(detail));
});
afterEach(async () => {
  await work.stop();
  await source.destroy();
  await db.drop();
});

const emitting = (id: string): Promise<void> =>
  work.run((tx) => {
    tx.emit({ event: traceScored, id, project: 'default', payload: { session_id: id } as never });
    return Promise.resolve();
  });
const outbox = async (): Promise<string[]> =>
  (await db.query<{ id: string }>('SELECT id FROM scoring.outbox ORDER BY id')).map(({ id }) => id);
const waiting = async (): Promise<number> => {
  const [row] = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return row?.n ?? 0;
};

describe('two transactions that overlap', () => {
  it('leave no row that was published', async () => {
    // The slow one has written its rows, and its deletions, and then takes its time to commit.
    await db.query(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON scoring.outbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.id = 'slow') EXECUTE FUNCTION hold()`);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let taken = (): void => undefined;
    const locked = new Promise<void>((resolve) => (taken = resolve));
    const holder = source.transaction(async (manager) => {
      await manager.query('SELECT pg_advisory_xact_lock(7)');
      taken();
      await held;
    });
    await locked;
    const slow = emitting('slow');
    await eventually(async () => (await waiting()) === 1);
    await emitting('quick');
    expect(published).toEqual(['quick']);
    release();
    await Promise.all([holder, slow]);
    await work.stop();
    expect(published).toEqual(['quick', 'slow']);
    expect(await outbox()).toEqual([]);
  });

  it('delete each what they took, and nothing is left', async () => {
    await emitting('before');
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const open = work.run(() => held);
    await emitting('beside');
    release();
    await open;
    await work.stop();
    expect(await outbox()).toEqual([]);
  });
});

describe('a transaction that fails', () => {
  it('leaves what was published to be deleted by the next', async () => {
    await emitting('before');
    await expect(work.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await outbox()).toEqual(['before']);
    await emitting('after');
    expect(await outbox()).toEqual(['after']);
  });
});

describe('the sweeper', () => {
  const leave = (count: number, name: (index: number) => string): Promise<unknown> =>
    db.query(
      `INSERT INTO scoring.outbox (id, subject, payload, created_at) SELECT id, 'x', '{}', now() - interval '1 minute' FROM unnest($1::text[]) WITH ORDINALITY AS r(id, n) ORDER BY n`,
      [Array.from({ length: count }, (_, index) => name(index))],
    );

  it('goes past what can never be published, and says which', async () => {
    await leave(250, (index) => `large-${index}`);
    await leave(300, (index) => `small-${index}`);
    refusal = (id) => (id.startsWith('large') ? { reason: 'max_payload size exceeded', full: false, hopeless: true } : null);
    work.start();
    await eventually(() => said.length > 0, 15_000);
    expect(published).toHaveLength(300);
    expect(await outbox()).toHaveLength(250);
    expect(said).toEqual([expect.stringMatching(/^250 events .*250 of them never.*large-0, large-1.*max_payload/)]);
  });

  it('does not hammer a broker that takes nothing, and says when all is well again', async () => {
    await leave(500, (index) => `row-${index}`);
    let asked = 0;
    refusal = () => ({ reason: `no answer ${(asked += 1)}`, full: false, hopeless: false });
    work.start();
    await eventually(() => said.length > 0, 15_000);
    expect(asked).toBe(200);
    expect(said).toEqual(['200 events cannot be published: no answer 1']);
    refusal = () => null;
    await eventually(() => said.length > 1, 15_000);
    expect(said[1]).toBeNull();
    expect(await outbox()).toEqual([]);
  });
});
