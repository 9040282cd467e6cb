import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from './json.js';
import { normaliseTurn, stringifyTurn } from './turn.js';

const trace = (trace_id: string, started_at: unknown) => ({ trace_id, started_at, spans: [] });
const turn = (more: object) => ({ session_id: 's', turn_index: 0, ...more });
const accepted = (value: unknown) => {
  const result = normaliseTurn(value);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result;
};

describe('normaliseTurn', () => {
  it('keeps unknown fields under metadata, at every level', () => {
    const { turn: seen } = accepted(
      turn({ colour: 'red', traces: [{ ...trace('a', 1), mood: 1, spans: [{ span_id: 'x', name: 'n', extra: true }] }] }),
    );
    expect(seen.metadata).toEqual({ colour: 'red' });
    expect(seen.traces?.[0]?.metadata).toEqual({ mood: 1 });
    expect(seen.traces?.[0]?.spans[0]?.metadata).toEqual({ extra: true });
  });
  it('drops the event id: a turn is its session and index', () => {
    expect(accepted(turn({ event_id: 'e1' })).turn).toEqual(accepted(turn({ event_id: 'e2' })).turn);
  });
  it('puts traces into the order of (started_at, trace_id), whatever unit their times are in', () => {
    const { turn: seen } = accepted(
      turn({ traces: [trace('c', '2026-01-01T00:00:01Z'), trace('b', 1767225600), trace('a', 1767225600000)] }),
    );
    expect(seen.traces?.map(({ trace_id }) => trace_id)).toEqual(['a', 'b', 'c']);
  });
  it('uses the first of two traces of one id, and says so', () => {
    const { turn: seen, notes } = accepted(turn({ traces: [trace('a', 1), trace('a', 2)] }));
    expect(seen.traces).toHaveLength(1);
    expect(notes.join()).toMatch(/trace a came twice/);
  });
  it('names every bad field by its path', () => {
    const result = normaliseTurn({
      turn_index: -1,
      traces: [{ trace_id: 'a', started_at: 'yesterday', spans: [{ span_id: 1, name: 'n' }] }],
    });
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? [] : result.errors.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['session_id', 'turn_index', 'traces.0.spans.0.span_id']),
    );
    const late = normaliseTurn(turn({ traces: [trace('a', 'yesterday')] }));
    expect(late.ok ? [] : late.errors).toEqual([
      { path: 'traces.0.started_at', message: expect.stringMatching(/RFC 3339/) as unknown as string },
    ]);
  });
  it('comes out of its written form as it went in, however small its times are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), fc.integer({ min: 0, max: 999_999 }), (started, ended) => {
        const first = accepted(
          turn({
            started_at: started,
            traces: [{ ...trace('a', started), ended_at: ended, spans: [{ span_id: 'x', name: 'n', started_at: ended }] }],
          }),
        ).turn;
        const again = accepted(parseJson(stringifyTurn(first)).value).turn;
        expect(again).toEqual(first);
        expect(stringifyTurn(again)).toBe(stringifyTurn(first));
      }),
    );
  });
  it('keeps a seventeen-digit id to the last digit', () => {
    const text = '{"session_id":"s","turn_index":0,"end_state":{"user_id":76561198016705746}}';
    expect(stringifyTurn(accepted(parseJson(text).value).turn)).toContain('76561198016705746');
  });
});
