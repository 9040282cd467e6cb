import { describe, expect, it } from '@jest/globals';
import { RunStopped, RunTime } from './run-time.js';

const never = new Promise<string>(() => undefined);

describe('the time of a run', () => {
  it('lets go of what hangs when it is over', async () => {
    const time = new RunTime(5);
    await expect(time.race(never)).rejects.toMatchObject(new RunStopped('timed_out'));
    expect(time.stopped).toBe('timed_out');
  });
  it('ends for the first reason that was given', async () => {
    const time = new RunTime(60_000);
    time.stop('lease_lost');
    time.stop('cancelled');
    await expect(time.race(never)).rejects.toThrow('lease_lost');
    time.end();
  });
  it('hears what ends by itself when it is told to, and gives its answer or its error', async () => {
    const time = new RunTime(60_000);
    const heard = new Promise<string>((_, reject) =>
      time.signal.addEventListener('abort', () => reject(new Error('aborted with usage'))),
    );
    const raced = time.race(heard, 1_000);
    time.stop('cancelled');
    await expect(raced).rejects.toThrow('aborted with usage');
    await expect(new RunTime(1).race(Promise.resolve('soon enough'))).resolves.toBe('soon enough');
    time.end();
  });
  it('never tells that there is no time left as no limit', () => {
    const time = new RunTime(0);
    expect(time.leftMs).toBe(1);
    time.end();
  });
});
