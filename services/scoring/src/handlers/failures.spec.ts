import { describe, expect, it } from '@jest/globals';
import { InfrastructureError } from '#messaging';
import { quietly } from './failures.js';

describe('a job of a tick', () => {
  const said: string[] = [];
  const logger = { debug: (text: string) => said.push(`debug ${text}`), warn: (text: string) => said.push(`warn ${text}`) };

  it('that fails for want of a database is said quietly, and anything else where somebody looks', async () => {
    await quietly(logger, 'time-outs', () => Promise.reject(new InfrastructureError('database', new Error('refused'))));
    await quietly(logger, 'time-outs', () => Promise.reject(new Error('no such column')));
    await quietly(logger, 'time-outs', () => Promise.resolve());
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(/^debug database is away: refused/);
    expect(said[1]).toMatch(/^warn time-outs: Error: no such column\n +at /);
  });
});
