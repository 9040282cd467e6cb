import { describe, expect, it } from '@jest/globals';
import { setImmediate as turnOver } from 'node:timers/promises';
import type { SettingsDirectory } from '#persistence';
import type { JobStore } from '../postgres/job-store.js';
import { Lanes, type LaneTasks } from './lanes.js';

describe('the lanes of a process', () => {
  it('take nothing more from the moment it is told to stop, long before its consumers are done', async () => {
    let looks = 0;
    const store = { hasWork: () => Promise.resolve((looks += 1) < 0) } as unknown as JobStore;
    const settings = { all: () => Promise.resolve(new Map()) } as unknown as SettingsDirectory;
    const task = { run: () => Promise.resolve() };
    const tasks: LaneTasks = { judge: task, embedding: task, own: task, verifier: task };
    let closed = 0;
    const models = { prices: { price: () => null }, close: () => Promise.resolve(void (closed += 1)) };
    const stopping = new AbortController();
    const lanes = new Lanes(store, settings, tasks, { concurrency: 1, graceMs: 60_000, stopping: stopping.signal, models });
    const look = async (): Promise<number> => {
      lanes.nudge();
      for (let turns = 0; turns < 20; turns += 1) await turnOver();
      return looks;
    };
    lanes.onApplicationBootstrap();
    await look();
    const before = await look();
    expect(before).toBeGreaterThanOrEqual(8);
    stopping.abort();
    expect([await look(), await look()]).toEqual([before, before]);
    expect(closed).toBe(0);
    await lanes.onApplicationShutdown();
    expect(closed).toBe(1);
  });
});
