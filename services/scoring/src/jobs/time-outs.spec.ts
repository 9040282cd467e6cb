import { describe, expect, it } from '@jest/globals';
import type { Ending } from '../job-ending.js';
import type { ClaimedJob } from '../postgres/job-claims.js';
import { TimeOuts } from './time-outs.js';

const job = (more: Partial<ClaimedJob> = {}): ClaimedJob =>
  ({ project: 'p', provider: 'webhook:style', attempts: 0, probing: false, ...more }) as ClaimedJob;
const late: Ending = { kind: 'failed', error: 'no answer', delayMs: 5_000, late: true };
const rest = { kind: 'rest', code: 'unavailable', error: 'no answer', delayMs: 5_000 };

describe('time-outs', () => {
  it('let a provider rest when three follow each other, without an answer between them', () => {
    const timeOuts = new TimeOuts();
    expect([timeOuts.heed(job(), late, false).kind, timeOuts.heed(job(), late, false).kind]).toEqual(['failed', 'failed']);
    timeOuts.heed(job(), { kind: 'done' }, true);
    expect([1, 2, 3].map(() => timeOuts.heed(job(), late, false).kind)).toEqual(['failed', 'failed', 'rest']);
    expect(timeOuts.heed(job(), late, false)).toEqual(rest);
  });

  it('are counted for each provider of each project', () => {
    const timeOuts = new TimeOuts();
    const kinds = ['a', 'b', 'a', 'b'].map((project) => timeOuts.heed(job({ project }), late, false).kind);
    const others = ['x', 'y'].map((provider) => timeOuts.heed(job({ provider }), late, false).kind);
    expect([...kinds, ...others]).toEqual(Array(6).fill('failed'));
  });

  it('wait longer each time', () => {
    const delay = (attempts: number, ending: Ending = late): unknown => new TimeOuts().heed(job({ attempts }), ending, false);
    expect([0, 1, 4, 10].map((attempts) => delay(attempts))).toMatchObject([5, 10, 80, 600].map((s) => ({ delayMs: s * 1_000 })));
    expect(delay(0, { kind: 'failed', error: '', delayMs: 60_000, late: true })).toMatchObject({ delayMs: 60_000 });
  });

  it('of whoever tries for the others let it rest at once', () => {
    expect(new TimeOuts().heed(job({ probing: true }), late, false)).toEqual(rest);
  });

  it('are not what fails for other reasons', () => {
    const timeOuts = new TimeOuts();
    const failed: Ending = { kind: 'failed', error: 'odd', delayMs: 1 };
    expect([1, 2, 3, 4].map(() => timeOuts.heed(job({ probing: true }), failed, false))).toEqual(Array(4).fill(failed));
  });
});
