import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TapeCall, ToolTape } from '../../../contracts/src/replay.events.js';
import { tapeOf } from '../../../domain/src/tape/tape-of.js';
import { argumentsKey } from './arguments-key.js';
import { TapePlayer, type TapeOptions } from './tape-player.js';

const call = (tool: string, args: unknown, result: unknown, error: string | null = null): TapeCall => ({
  ...{ tool, arguments: args, result, error },
});
const tape = (...calls: TapeCall[]): ToolTape => ({ calls, cut: false });
const said = (result: Promise<unknown>): Promise<unknown> => result.catch((error: unknown) => (error as Error).name);

/** Plays calls one after the other; a live call says so. */
async function play(recorded: ToolTape | null, options: TapeOptions, calls: readonly [string, unknown?][]): Promise<unknown[]> {
  const player = new TapePlayer(recorded, options);
  const results: unknown[] = [];
  for (const [tool, given] of calls) results.push(await said(player.call(tool, given, () => `live ${tool}`)));
  return [...results, player.share];
}

const recorded = tape(
  call('find', { id: 1, by: 'mail' }, 'one'),
  call('pay', { cents: 5 }, 'paid'),
  call('find', '{"id": 2}', 'two'),
);

describe('playing a tape', () => {
  it.each<[string, TapeOptions, [string, unknown?][], unknown[]]>([
    [
      'strict, in order',
      { tapeMode: 'strict' },
      [
        ['find', { by: 'mail', id: 1 }],
        ['pay', { cents: 5 }],
        ['find', { id: 2 }],
      ],
      ['one', 'paid', 'two', 1],
    ],
    [
      'strict, out of order',
      { tapeMode: 'strict' },
      [
        ['pay', { cents: 5 }],
        ['find', { id: 1, by: 'mail' }],
        ['pay', { cents: 5 }],
      ],
      ['TapeMissError', 'one', 'paid', 2 / 3],
    ],
    ['strict, other arguments', { tapeMode: 'strict' }, [['find', { id: 1 }]], ['TapeMissError', 0]],
    [
      'strict, more calls than were recorded',
      { tapeMode: 'strict', onMiss: 'live' },
      [
        ['find', { id: 1, by: 'mail' }],
        ['pay', { cents: 5 }],
        ['find', { id: 2 }],
        ['find', { id: 2 }],
      ],
      ['one', 'paid', 'two', 'live find', 0.75],
    ],
    [
      'match, in any order',
      {},
      [
        ['find', { id: 2 }],
        ['pay', { cents: 5 }],
        ['find', '{"by":"mail","id":1}'],
      ],
      ['two', 'paid', 'one', 1],
    ],
    ['match, another tool', {}, [['refund', { cents: 5 }]], ['TapeMissError', 0]],
    ['match, a miss that is made', { onMiss: 'live' }, [['find', { id: 3 }]], ['live find', 0]],
    ['match, a miss with a value', { onMiss: { value: null } }, [['find', { id: 3 }]], [null, 0]],
    [
      'match, a miss of what must never be made',
      { onMiss: 'live', neverLive: ['pay'] },
      [
        ['pay', { cents: 6 }],
        ['pay', { cents: 5 }],
      ],
      ['TapeMissError', 'paid', 0.5],
    ],
    [
      'a value does not stand for what must never be made',
      { onMiss: { value: 1 }, neverLive: ['pay'] },
      [['pay', {}]],
      ['TapeMissError', 0],
    ],
    [
      'live',
      { tapeMode: 'live', neverLive: ['pay'] },
      [
        ['find', { id: 1 }],
        ['pay', { cents: 5 }],
      ],
      ['live find', 'TapeMissError', null],
    ],
  ])('%s', async (_, options, calls, results) => {
    expect(await play(recorded, options, calls)).toEqual(results);
  });

  it('plays each recorded call once, and then the last again', async () => {
    const polled = tape(call('poll', {}, 'waiting'), call('poll', {}, 'waiting'), call('poll', {}, 'done'));
    expect(await play(polled, {}, [['poll'], ['poll'], ['poll'], ['poll'], ['poll']])).toEqual([
      'waiting',
      'waiting',
      'done',
      'done',
      'done',
      1,
    ]);
  });

  it('lets a call fail that failed when it was recorded', async () => {
    const player = new TapePlayer(tape(call('find', {}, null, 'no such order')));
    await expect(player.call('find', {}, () => 1)).rejects.toMatchObject({
      name: 'RecordedToolError',
      tool: 'find',
      message: 'no such order',
    });
    expect(player.share).toBe(1);
  });

  it('misses everything without a tape, and reports no share', async () => {
    expect(await play(null, { onMiss: 'live' }, [['find', {}]])).toEqual(['live find', null]);
    expect(await play(recorded, {}, [])).toEqual([null]);
  });

  it('never plays a call whose arguments were not recorded', async () => {
    expect(await play(tape(call('find', undefined, 1)), {}, [['find'], ['find', {}]])).toEqual([
      'TapeMissError',
      'TapeMissError',
      0,
    ]);
  });

  it('gives every call its own result', async () => {
    const player = new TapePlayer(tape(call('find', {}, { found: [1] })));
    const first = (await player.call('find', {}, () => 1)) as { found: number[] };
    first.found.push(2);
    expect(await player.call('find', {}, () => 1)).toEqual({ found: [1] });
  });

  it('plays back what was recorded, in both modes, without a live call', async () => {
    const calls = fc.array(fc.record({ name: fc.constantFrom('a', 'b'), input: fc.jsonValue(), output: fc.jsonValue() }));
    await fc.assert(
      fc.asyncProperty(calls, fc.constantFrom('strict' as const, 'match' as const), async (given, tapeMode) => {
        const spans = given.map((one, at) => ({
          ...one,
          span_id: `${at}`,
          kind: 'TOOL' as const,
          status: 'OK' as const,
          started_at: at,
        }));
        const player = new TapePlayer(tapeOf({ traces: [{ trace_id: 't', started_at: 0, spans }] }), { tapeMode });
        for (const { name, input, output } of given)
          expect(await player.call(name, input, () => Promise.reject(new Error('live')))).toEqual(output);
        expect(player.share).toBe(given.length === 0 ? null : 1);
      }),
    );
  });
});

describe('the arguments of two calls', () => {
  it('are the same whatever the order of keys, at every depth, and whether written as text', () => {
    const value = { a: [{ y: 1, x: 2 }], b: null };
    const keys = [value, { b: null, a: [{ x: 2, y: 1 }] }, JSON.stringify(value), ` ${JSON.stringify(value)} `].map(argumentsKey);
    expect(new Set(keys).size).toBe(1);
    expect([null, '', ' '].map(argumentsKey)).toEqual(['{}', '{}', '{}']);
  });

  it('differ where a value differs', () => {
    const values = [{ a: 1 }, { a: '1' }, { a: 1, b: 2 }, [1], 'text', '{broken', 1, true, {}];
    expect(new Set(values.map(argumentsKey)).size).toBe(values.length);
    expect(argumentsKey(undefined)).toBeUndefined();
  });
});
