import { afterEach, describe, expect, it } from '@jest/globals';
import { setImmediate as turnOver } from 'node:timers/promises';
import type { Claim, ClaimedJob } from '../postgres/job-claims.js';
import type { JobStore, LoadedJob } from '../postgres/job-store.js';
import { LaneWorker, type LaneTask } from './lane-worker.js';

type Gate = { readonly open: () => void; readonly passed: Promise<void> };
const gate = (): Gate => {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open, passed };
};
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await turnOver();
};

/** A queue of jobs with so many evaluations each; says how it was asked. */
class Queue {
  readonly claims: Claim[] = [];
  readonly waiting: LoadedJob[] = [];
  renewed: readonly ClaimedJob[] = [];
  beforeAnswer: () => Promise<void> = () => Promise.resolve();

  add(...names: string[]): void {
    for (const name of names) this.waiting.push({ job: { s: name, t: 0, tier: 1, provider: 'p' } } as LoadedJob);
  }

  get store(): JobStore {
    const store: Pick<JobStore, 'hasWork' | 'claim' | 'load' | 'renew'> = {
      hasWork: async () => {
        const some = this.waiting.length > 0;
        await this.beforeAnswer();
        return some;
      },
      claim: (claim) => {
        this.claims.push(claim);
        return Promise.resolve(this.waiting.slice(0, claim.most).map(({ job }) => job));
      },
      load: (jobs) => Promise.resolve(this.waiting.splice(0, jobs.length)),
      renew: (jobs) => Promise.resolve(void (this.renewed = jobs)),
    };
    return store as JobStore;
  }
}

const workers: LaneWorker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(0);
});

function start(queue: Queue, task: LaneTask, concurrency = 4, errors: unknown[] = []): LaneWorker {
  const options = { lane: 'judge', concurrency, task, limits: () => Promise.resolve([]) } as const;
  const worker = new LaneWorker(queue.store, { ...options, onError: (error) => errors.push(error) });
  workers.push(worker);
  worker.start();
  return worker;
}

describe('a worker of a lane', () => {
  it('hears of a job that came while it was looking', async () => {
    const queue = new Queue();
    const looked = gate();
    const done: string[] = [];
    queue.beforeAnswer = () => looked.passed;
    const worker = start(queue, { run: ({ job }) => Promise.resolve(void done.push(job.s)) });
    await settled();
    queue.add('a');
    worker.nudge();
    looked.open();
    await settled();
    expect(done).toEqual(['a']);
  });

  it('hears of a job while it is idle', async () => {
    const queue = new Queue();
    const done: string[] = [];
    const worker = start(queue, { run: ({ job }) => Promise.resolve(void done.push(job.s)) });
    await settled();
    queue.add('a');
    worker.nudge();
    await settled();
    expect(done).toEqual(['a']);
  });

  it('keeps every slot busy and takes a quarter more than that ahead, until all is done', async () => {
    const queue = new Queue();
    queue.add(...Array.from({ length: 100 }, (_, index) => `j${index}`));
    let [running, most, done] = [0, 0, 0];
    const started = gate();
    start(queue, {
      run: async (_, slot) => {
        await slot(async () => {
          running += 1;
          most = Math.max(most, running);
          if (running === 4) started.open();
          await turnOver();
          running -= 1;
        });
        done += 1;
      },
    });
    await started.passed;
    while (done < 100) await turnOver();
    expect(most).toBe(4);
    expect(queue.claims[0]?.most).toBe(5);
    expect(Math.max(...queue.claims.map((claim) => claim.most))).toBeLessThanOrEqual(5);
  });

  it('takes nothing more while jobs of many evaluations fill its slots', async () => {
    const queue = new Queue();
    queue.add('many', 'later', 'last');
    const hold = gate();
    const done: string[] = [];
    start(
      queue,
      {
        run: async ({ job }, slot) => {
          await Promise.all(Array.from({ length: 16 }, () => slot(() => hold.passed)));
          done.push(job.s);
        },
      },
      1,
    );
    await settled();
    expect(queue.claims).toHaveLength(1);
    hold.open();
    while (done.length < 3) await turnOver();
    expect(done).toEqual(['many', 'later', 'last']);
  });

  it('goes on after a job that failed in a way of its own', async () => {
    const queue = new Queue();
    queue.add('bad', 'good');
    const [done, errors]: [string[], unknown[]] = [[], []];
    start(
      queue,
      { run: ({ job }) => (job.s === 'bad' ? Promise.reject(new Error('bad')) : Promise.resolve(void done.push(job.s))) },
      4,
      errors,
    );
    await settled();
    expect(done).toEqual(['good']);
    expect(errors).toEqual([new Error('bad')]);
  });

  it('stops after what it holds is done, without another claim', async () => {
    const queue = new Queue();
    queue.add('a', 'b', 'c');
    const hold = gate();
    const done: string[] = [];
    const worker = start(
      queue,
      {
        run: async ({ job }, slot) => {
          await slot(() => hold.passed);
          done.push(job.s);
        },
      },
      1,
    );
    await settled();
    const claims = queue.claims.length;
    const stopped = worker.stop(60_000);
    worker.nudge();
    await settled();
    expect(done).toEqual([]);
    hold.open();
    await stopped;
    expect(done).toEqual(['a', 'b']);
    expect(queue.claims).toHaveLength(claims);
    expect(queue.waiting.map(({ job }) => job.s)).toEqual(['c']);
  });

  it('tells what is in progress to give back its jobs when the time to stop is over', async () => {
    const queue = new Queue();
    queue.add('a');
    const returned: string[] = [];
    const worker = start(queue, {
      run: ({ job }, slot, signal) =>
        slot(
          () =>
            new Promise<void>((resolve) =>
              signal.addEventListener('abort', () => {
                returned.push(job.s);
                resolve();
              }),
            ),
        ),
    });
    await settled();
    await worker.stop(1);
    expect(returned).toEqual(['a']);
  });

  it('gives back what it was claiming when it was told to stop, and counts the time to stop from then', async () => {
    const queue = new Queue();
    queue.add('held');
    const [begun, aborted]: [string[], string[]] = [[], []];
    const looked = gate();
    const worker = start(queue, {
      run: async ({ job }, _, signal) => {
        (signal.aborted ? aborted : begun).push(job.s);
        if (signal.aborted) return;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        aborted.push(`${job.s}, at work`);
      },
    });
    await settled();
    queue.beforeAnswer = () => looked.passed;
    queue.add('late');
    worker.nudge();
    await settled();
    const stopped = worker.stop(1);
    // The claim hangs, and what is in progress is told to end all the same.
    while (aborted.length === 0) await turnOver();
    looked.open();
    await stopped;
    expect([begun, aborted]).toEqual([['held'], ['held, at work', 'late']]);
  });
});
