import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource, SettingsDirectory } from '#persistence';
import { eventually, testDatabase, type TestDatabase } from '#testing';

let db: TestDatabase;
let source: DataSource;
let said: (string | null)[];
let directory: SettingsDirectory;

beforeEach(async () => {
  db = await testDatabase();
  source = await createDataSource({ url: db.url, role: 'fm_scoring', name: 'scoring' }).initialize();
  said = [];
  directory = new SettingsDirectory(source, { gate_gain: 0.1 }, (detail) => void said.push(detail));
});
afterEach(async () => {
  await source.destroy();
  await db.drop();
});

const create = (project: string): Promise<unknown> => db.query('INSERT INTO edge.projects (project) VALUES ($1)', [project]);
const set = (project: string, version: number, doc: object): Promise<unknown> =>
  db.query(`INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, $2, $3, 'test')`, [
    project,
    version,
    JSON.stringify(doc),
  ]);

describe('a project', () => {
  it('exists as soon as it was created, however short ago the projects were read', async () => {
    expect(await directory.exists('default')).toBe(true);
    expect(await directory.exists('fresh')).toBe(false);
    await create('fresh');
    expect(await directory.exists('fresh')).toBe(true);
  });

  it('exists when it was created while a read was under way that did not see it', async () => {
    const query = source.query.bind(source);
    let ended = (): void => undefined;
    const held = new Promise<void>((resolve) => (ended = resolve));
    let seen = (): void => undefined;
    const read = new Promise<void>((resolve) => (seen = resolve));
    jest.spyOn(source, 'query').mockImplementationOnce(async (sql: string) => {
      const rows: unknown = await query(sql);
      seen();
      await held;
      return rows;
    });
    const first = directory.all();
    await read;
    await create('fresh');
    const asked = directory.exists('fresh');
    ended();
    expect((await first).has('fresh')).toBe(false);
    expect(await asked).toBe(true);
  });

  it('that nobody knows costs a read every 100 ms at most, and no longer a wait', async () => {
    await directory.all();
    const reads = jest.spyOn(source, 'query');
    const began = performance.now();
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => directory.exists(`unknown-${index}`)));
      expect(new Set(answers)).toEqual(new Set([false]));
    }
    expect(reads).toHaveBeenCalledTimes(5);
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(390);
    expect(took).toBeLessThan(1_500);
  });
});

describe('settings that this version cannot read', () => {
  it('concern their own project only, and are said once, and when they are well again', async () => {
    await create('newer');
    await set('default', 1, { gate_window: 3 });
    await set('newer', 1, { gate_window: 4, of_tomorrow: true });
    expect((await directory.of('default')).gate_window).toBe(3);
    expect(await directory.of('newer')).toMatchObject({ gate_window: 4, gate_gain: 0.1 });
    expect(await directory.exists('newer')).toBe(true);
    expect(await directory.exists('unknown')).toBe(false);
    expect(said).toEqual([expect.stringMatching(/newer: .*of_tomorrow/)]);

    await set('newer', 2, { gate_window: 5 });
    await eventually(async () => (await directory.of('newer')).gate_window === 5);
    await set('newer', 3, { gate_window: 'many', gate_gain: 0.3 });
    await eventually(() => directory.exists('unknown').then(() => said.length === 3));
    expect(await directory.of('newer')).toMatchObject({ gate_window: 5, gate_gain: 0.1 });
    expect(said.slice(1)).toEqual([null, expect.stringContaining('newer: gate_window')]);
  });
});
