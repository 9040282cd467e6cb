import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRunFile, removeRunFile, writeRunFile } from './run-file.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fleetmend-run-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const content = { url: 'http://127.0.0.1:1', nats_url: 'nats://127.0.0.1:2', database_url: 'postgresql://x', pid: process.pid };

it('is read while its process lives, and only the owner may read it', async () => {
  await writeRunFile(dir, content);
  expect(await readRunFile(dir)).toEqual(content);
  expect((await stat(join(dir, 'run.json'))).mode & 0o777).toBe(0o600);
  expect(await readdir(dir)).toEqual(['run.json']);
});

it('of a dead process counts as none', async () => {
  await writeRunFile(dir, { ...content, pid: 2 ** 22 + 1 });
  expect(await readRunFile(dir)).toBeUndefined();
});

it('is removed by its own process only', async () => {
  await writeRunFile(dir, content);
  await removeRunFile(dir, process.pid + 1);
  expect(await readRunFile(dir)).toEqual(content);
  await removeRunFile(dir, process.pid);
  expect(await readdir(dir)).toEqual([]);
});

it('that cannot be read counts as none', async () => {
  for (const text of ['', '{', 'null', '{"pid":1}']) {
    await writeFile(join(dir, 'run.json'), text);
    expect(await readRunFile(dir)).toBeUndefined();
  }
});
