import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { gateDefaults, type GateSettings } from '../gate/index.js';
import { calibrateGate, combinations, defaultGrid, recommend, type GateGridInput, type GateTrial } from './gate-grid.js';
import type { StoredSession } from './series.js';

const session = (name: string, values: readonly number[], source = 'check'): StoredSession => ({
  session: name,
  lastTurn: values.length - 1,
  tracks: [{ metric: 'task_completion', source, turns: values.map((_, at) => at), values }],
});
const input = (sessions: readonly StoredSession[], more: Partial<GateGridInput> = {}): GateGridInput => ({
  ...{ sessions, labels: null, grid: defaultGrid, targetPrecision: 0.9 },
  ...{ isGated: () => true, settingsOf: () => gateDefaults, mayFire: () => true },
  ...more,
});

/** Failed sessions fall by 0.6, fine ones by 0.2: only a drop between the two tells them apart. */
const falling = [
  ...['f1', 'f2', 'f3'].map((name) => session(name, [0.9, 0.9, 0.3])),
  ...['w1', 'w2', 'w3'].map((name) => session(name, [0.9, 0.7, 0.9])),
];
const labels = new Map(falling.map(({ session: name }) => [name, name.startsWith('f')]));

describe('calibrateGate', () => {
  it('recommends what reaches the target precision with the most recall, changing as little as it can', () => {
    const { tracks, in_force, recommended, gate_overrides } = calibrateGate(input(falling, { labels }));
    expect(in_force.labeled).toMatchObject({ precision: 0.5, recall: 1 });
    expect(tracks[0]?.recommendation).toMatchObject({
      reached: true,
      settings: { ...gateDefaults, gate_drop: 0.3 },
      outcome: { labeled: { precision: 1, recall: 1 } },
    });
    expect(tracks[0]?.recommendation?.ties).toContainEqual({ ...gateDefaults, gate_drop: 0.5 });
    expect(tracks[0]?.recommendation?.ties).not.toContainEqual({ ...gateDefaults, gate_drop: 0.3 });
    expect(gate_overrides).toEqual({ 'task_completion@check': { ...gateDefaults, gate_drop: 0.3 } });
    expect(recommended?.labeled).toMatchObject({ precision: 1, recall: 1 });
  });

  it('says so when no combination reaches the target, and then changes nothing', () => {
    const mixed = new Map([...labels].map(([name, failed]) => [name, name === 'f1' ? false : failed]));
    const { tracks, recommended, gate_overrides } = calibrateGate(input(falling, { labels: mixed }));
    expect(tracks[0]?.recommendation).toMatchObject({ reached: false, outcome: { labeled: { tp: 2, fp: 1 } } });
    expect([recommended, gate_overrides]).toEqual([null, {}]);
  });

  it('recommends nothing without labels, but shows what each combination would have done', () => {
    const { tracks } = calibrateGate(input(falling));
    expect(tracks[0]?.recommendation).toBeNull();
    expect(tracks[0]?.grid).toHaveLength(96);
    expect(tracks[0]?.grid.map(({ outcome }) => outcome.fired)).toEqual(expect.arrayContaining([3, 6]));
  });

  it('replays only gated metrics; a silent source counts once it has a target of its own', () => {
    const sessions = falling.map(({ session: name, tracks: [track], ...rest }) => ({
      ...{ session: name, ...rest },
      tracks: [
        { ...track, metric: 'coherence', source: 'lexical' },
        { ...track, metric: 'step_efficiency', source: 'check' },
      ].map(({ turns = [], values = [], metric, source }) => ({ metric, source, turns, values })),
    }));
    const isGated = (metric: string) => metric === 'coherence';
    const { tracks, in_force, recommended } = calibrateGate(input(sessions, { labels, isGated, mayFire: () => false }));
    expect(tracks.map(({ metric, source }) => `${metric}@${source}`)).toEqual(['coherence@lexical']);
    expect(in_force.sessions).toBe(0);
    expect(recommended).toMatchObject({ sessions: 6, fired: 3 });
  });

  it('gives for the settings in force the same as for those settings in a grid, for any series', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.array(unit, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 6 }), (series) => {
        const sessions = series.map((values, at) => session(`s${at}`, values));
        const failed = new Map(sessions.map(({ session: name }, at) => [name, at % 2 === 0]));
        const [track] = calibrateGate(input(sessions, { labels: failed })).tracks;
        const same = track?.grid.find(({ settings }) => JSON.stringify(settings) === JSON.stringify(gateDefaults));
        expect(same?.outcome).toEqual(track?.in_force.outcome);
      }),
    );
  });
});

describe('recommend', () => {
  const trial = (gate_window: number, tp: number, fp: number): GateTrial => ({
    settings: { ...gateDefaults, gate_window },
    outcome: {
      ...{ sessions: 20, fired: tp + fp, stalled: 0, regressed: 0, median_first_turn: 1, median_turns_before_end: 1 },
      labeled: { tp, fp, tn: 10 - fp, fn: 10 - tp, precision: tp + fp === 0 ? 0 : tp / (tp + fp), recall: tp / 10, f1: 0 },
    },
  });
  it.each<[string, GateTrial[], number | undefined, boolean | undefined]>([
    ['the most recall above the target', [trial(1, 9, 9), trial(2, 5, 0), trial(3, 6, 0)], 3, true],
    ['precision when recall is equal', [trial(1, 9, 1), trial(2, 9, 0)], 2, true],
    ['the nearest precision when none reaches', [trial(1, 9, 9), trial(2, 3, 1), trial(3, 6, 2)], 3, false],
    ['nothing when nothing finds a failure', [trial(1, 0, 3), trial(2, 0, 0)], undefined, undefined],
    ['exactly the target', [trial(1, 9, 1)], 1, true],
  ])('takes %s', (_, trials, window, reached) => {
    const chosen = recommend(trials, gateDefaults, 0.9);
    expect([chosen?.settings.gate_window, chosen?.reached]).toEqual([window, reached]);
  });
});

it('combinations of a grid are all there, each once', () => {
  const all = combinations(defaultGrid).map((one: GateSettings) => JSON.stringify(one));
  expect([all.length, new Set(all).size]).toEqual([96, 96]);
});
