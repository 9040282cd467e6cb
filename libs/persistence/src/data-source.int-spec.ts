import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { testDatabase, type TestDatabase } from '#testing';
import { createDataSource } from './data-source.js';

describe('a data source', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase();
  }, 60_000);

  afterAll(() => database.drop());

  it('survives the end of a connection that nobody listens to yet', async () => {
    const source = await createDataSource({ url: database.url, role: 'fm_gating', name: 'test' }).initialize();
    try {
      const { master } = source.driver as unknown as { master: pg.Pool };
      const client = await master.connect();
      expect(client.listenerCount('error')).toBeGreaterThan(0);
      const ended = new Promise((resolve) => client.once('end', resolve));
      await database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fleetmend-test'");
      await ended;
      client.release(true);
      expect(await source.query('SELECT current_user AS role')).toEqual([{ role: 'fm_gating' }]);
    } finally {
      await source.destroy();
    }
  });
});
