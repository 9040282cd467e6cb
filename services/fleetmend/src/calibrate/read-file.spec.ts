import { describe, expect, it } from '@jest/globals';
import { CollectedScores } from './read-file.js';

const sessions = (...lines: unknown[]) => {
  const collected = new CollectedScores();
  for (const line of lines) collected.add(line);
  return collected.sessions();
};
const track = (turns: number[], values: number[], metric = 'task_completion', source = 'check') => ({
  metric,
  source,
  turns,
  values,
});

describe('CollectedScores', () => {
  it('puts single scores into turn order, within a turn as they came', () => {
    const line = (turn_index: number, value: number | null) => ({
      session_id: 's',
      turn_index,
      metric: 'm',
      source: 'judge',
      value,
    });
    expect(sessions(line(2, 0.2), line(0, 0.5), line(2, 0.1), line(1, null))).toEqual([
      { session: 's', lastTurn: 2, tracks: [track([0, 2, 2], [0.5, 0.2, 0.1], 'm', 'judge')] },
    ]);
  });

  it('reads a series as one turn a value, and goes on where an earlier line ended', () => {
    expect(sessions({ session_id: 's', values: [0.9, 0.8] }, { session_id: 's', values: [0.7] })).toEqual([
      { session: 's', lastTurn: 2, tracks: [track([0, 1, 2], [0.9, 0.8, 0.7])] },
    ]);
  });

  it('reads several metrics in one line; a null is a turn without a value', () => {
    expect(sessions({ session_id: 's', values: { m: [0.9, null, 0.8], n: 1, o: null } })).toEqual([
      { session: 's', lastTurn: 2, tracks: [track([0, 2], [0.9, 0.8], 'm'), track([0], [1], 'n')] },
    ]);
  });

  it('takes a session and a metric named like a member of Object for what they are', () => {
    const line = JSON.parse('{"session_id": "__proto__", "values": {"__proto__": 0.5}}') as unknown;
    expect(sessions(line)).toEqual([{ session: '__proto__', lastTurn: 0, tracks: [track([0], [0.5], '__proto__')] }]);
  });

  it.each<[unknown, string]>([
    [1, 'one JSON object'],
    [{ values: [1] }, 'session_id'],
    [{ session_id: 's', metric: 'm', value: 0.5 }, 'turn_index'],
    [{ session_id: 's', turn_index: -1, metric: 'm', value: 0.5 }, 'turn_index'],
    [{ session_id: 's', turn_index: 0, metric: 'm' }, 'value: a number'],
    [{ session_id: 's', turn_index: 0, metric: 'm', value: 1.5 }, 'from 0 to 1'],
    [{ session_id: 's', values: 'x' }, 'values.task_completion.0: a number'],
    [{ session_id: 's', values: { m: [0.5, {}] } }, 'values.m.1: a number'],
  ])('refuses %j', (line, reason) => {
    expect(() => sessions(line)).toThrow(reason);
  });
});
