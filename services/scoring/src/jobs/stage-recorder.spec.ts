import { describe, expect, it } from '@jest/globals';
import { StageRecorder } from './stage-recorder.js';

const make =
  (result: unknown, made: string[] = []) =>
  () => {
    made.push('made');
    return Promise.resolve(result);
  };

describe('shared stages of a job', () => {
  it('are made once for their trace, however many ask side by side, and kept to be stored', async () => {
    const recorder = new StageRecorder(new Map());
    const made: string[] = [];
    const [first, second] = await Promise.all([
      recorder.of('a').once('task', make(1, made)),
      recorder.of('a').once('task', make(2, made)),
    ]);
    expect([first, second, await recorder.of('b').once('task', make(3, made))]).toEqual([1, 1, 3]);
    expect(made).toHaveLength(2);
    expect(recorder.made).toEqual([
      { trace: 'a', stage: 'task', result: 1 },
      { trace: 'b', stage: 'task', result: 3 },
    ]);
  });

  it('that are stored already are neither made nor stored again, null among them', async () => {
    const recorder = new StageRecorder(new Map([['a', new Map<string, unknown>([['task', null]])]]));
    expect(await recorder.of('a').once('task', make('new'))).toBeNull();
    expect(await recorder.of('a').once('plan', make('new'))).toBe('new');
    expect(await recorder.of('b').once('task', make('other'))).toBe('other');
    expect(recorder.made.map(({ trace, stage }) => [trace, stage])).toEqual([
      ['a', 'plan'],
      ['b', 'task'],
    ]);
  });

  it('that fail are told to all who asked, and made again by who asks next', async () => {
    const recorder = new StageRecorder(new Map());
    const fail = () => Promise.reject(new Error('no'));
    const asked = [recorder.of('a').once('task', fail), recorder.of('a').once('task', fail)];
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await recorder.of('a').once('task', make('yes'))).toBe('yes');
    expect(recorder.made).toHaveLength(1);
  });
});
