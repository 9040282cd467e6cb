import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gateDefaults, replayGate } from '../gate/index.js';
import { replaySessions } from './gate-replay.js';
import { labelsFromOutcomes, lowestScores, type StoredSession } from './series.js';

const session = (name: string, values: readonly number[], more: Partial<StoredSession> = {}): StoredSession => ({
  session: name,
  lastTurn: values.length - 1,
  tracks: [{ metric: 'task_completion', source: 'check', turns: values.map((_, at) => at), values }],
  ...more,
});
const always = () => gateDefaults;

describe('replaySessions', () => {
  const fleet = [
    session('well', [0.9, 0.9, 0.85]),
    session('falls', [0.9, 0.9, 0.6, 0.9, 0.9]),
    session('stuck', [0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]),
    session('both', [0.4, 0.1, 0.1, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4]),
  ];

  it('counts the sessions that fire, per condition, and how early', () => {
    expect(replaySessions(fleet, always, null)).toEqual({
      ...{ sessions: 4, fired: 3, stalled: 2, regressed: 2, labeled: null },
      // First firings: turn 2 of 0 to 4, turn 5 of 0 to 6, turn 1 of 0 to 8.
      ...{ median_first_turn: 2, median_turns_before_end: 2 },
    });
  });

  it('compares what fired with labels, of labelled sessions only', () => {
    const labels = new Map([
      ['well', true],
      ['falls', true],
      ['stuck', false],
      ['elsewhere', true],
    ]);
    expect(replaySessions(fleet, always, labels).labeled).toEqual({
      ...{ tp: 1, fp: 1, tn: 0, fn: 1, precision: 0.5, recall: 0.5, f1: 0.5 },
    });
    expect(replaySessions(fleet, always, new Map()).labeled).toBeNull();
  });

  it('leaves out tracks that may not fire, and sessions that have no others', () => {
    const lexical = { metric: 'coherence', source: 'lexical', turns: [0, 1], values: [0.9, 0] };
    const sessions = [session('one', [0.9, 0.9], { tracks: [lexical] }), session('two', [0.9, 0.9])];
    const plan = ({ source }: { source: string }) => (source === 'lexical' ? null : gateDefaults);
    expect(replaySessions(sessions, plan, null)).toMatchObject({ sessions: 1, fired: 0, median_first_turn: null });
    expect(replaySessions(sessions, always, null)).toMatchObject({ sessions: 2, fired: 1 });
  });

  it('names turns by their own number where some are missing', () => {
    const track = { metric: 'm', source: 'check', turns: [3, 10, 12], values: [0.9, 0.1, 0.1] };
    const late = { session: 's', lastTurn: 40, tracks: [track] };
    expect(replaySessions([late], always, null)).toMatchObject({ median_first_turn: 10, median_turns_before_end: 30 });
  });

  it('fires exactly where the gate does, for any series and settings', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const settings = fc.record({
      gate_window: fc.integer({ min: -1, max: 6 }),
      gate_target: unit,
      gate_gain: unit,
      gate_drop: unit,
    });
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1 }), fc.option(settings), (values, chosen) => {
        const config = chosen ?? gateDefaults;
        const { verdicts } = replayGate({ values, config });
        const first = verdicts.findIndex(({ stalled, regressed }) => stalled || regressed);
        expect(replaySessions([session('s', values)], () => config, null)).toMatchObject({
          fired: first >= 0 ? 1 : 0,
          stalled: verdicts.some(({ stalled }) => stalled) ? 1 : 0,
          regressed: verdicts.some(({ regressed }) => regressed) ? 1 : 0,
          median_first_turn: first >= 0 ? first : null,
        });
      }),
    );
  });
});

describe('stored series', () => {
  it('give thresholds the lowest value of a session, over all sources of a metric', () => {
    const judged = { metric: 'task_completion', source: 'judge', turns: [0], values: [0.1] };
    const one = session('s', [0.9, 0.4]);
    const scores = lowestScores([{ ...one, tracks: [...one.tracks, judged] }, session('t', [0.7])]);
    expect([...scores].map(([name, own]) => [name, own.get('task_completion')])).toEqual([
      ['s', 0.1],
      ['t', 0.7],
    ]);
  });

  it('label a session by its outcome, and none without one', () => {
    const outcome = (values: number[]) => [{ metric: 'outcome_correct', source: 'verifier', turns: [0, 1], values }];
    const sessions = [
      session('failed', [1], { tracks: outcome([1, 0.89]) }),
      session('fine', [1], { tracks: outcome([0.9]) }),
      session('unknown', [1]),
    ];
    expect([...labelsFromOutcomes(sessions, 'outcome_correct', 0.9)]).toEqual([
      ['failed', true],
      ['fine', false],
    ]);
  });
});
