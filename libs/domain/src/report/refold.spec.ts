import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { projectSettings, type Score } from '#contracts';
import { gateConfig, untouched } from '../gate/index.js';
import { refold, type EvaluatedTurn } from './refold.js';

const config = gateConfig(projectSettings.parse({ gate_window: 2, revise_window_turns: 3 }));
const score = (metric: string, value: number): Score => ({
  ...{
    metric,
    value,
    status: 'scored',
    trace_id: null,
    source: 'check',
    evaluator: 'check/1',
    reason: null,
    code: null,
    spans: [],
  },
});
const turn = (t: number, tier1: number, tier2?: number, more: Partial<EvaluatedTurn> = {}): EvaluatedTurn => ({
  facts: { session: 's', turn: t, acceptedAt: t, partial: false, skipped: null, signals: [] },
  evidence: {
    1: { answer: 1, pending: false, scores: [score('task_completion', tier1)] },
    ...(tier2 === undefined ? {} : { 2: { answer: 1, pending: false, scores: [score('tool_correctness', tier2)] } }),
  },
  ...{ config, folded: true, requested: [], revision: 0, digest: '' },
  ...more,
});
const whole = (turns: EvaluatedTurn[]) => ({
  before: untouched,
  turns,
  newest: Math.max(...turns.map(({ facts }) => facts.turn)),
  digestOf: (report: object) => JSON.stringify(report),
});
const decide = (turns: EvaluatedTurn[]) => refold(whole(turns)).decisions;

describe('refold', () => {
  it('asks for a tier once, and decides that turn and those after it when it has answered', () => {
    const asks = refold({ ...whole([turn(0, 0.9), turn(1, 0.3), turn(2, 0.9)]) });
    expect(asks).toMatchObject({ decisions: [{ turn: 0 }], blocked: { turn: 1, request: [2], requested: [2] } });
    const waits = refold({ ...whole([turn(0, 0.9), turn(1, 0.3, undefined, { requested: [2] })]) });
    expect(waits.blocked).toEqual({ turn: 1, request: [], requested: [2] });
    const [, answered] = decide([turn(0, 0.9), turn(1, 0.3, 0.1, { requested: [2] }), turn(2, 0.9)]);
    expect(answered).toMatchObject({
      publish: true,
      report: { revision: 1, severity: 'breach', signatures: ['breach:tool_correctness', 'regression:task_completion'] },
    });
  });
  it('passes over a turn whose tier 1 has not come', () => {
    expect(decide([turn(0, 0.9, undefined, { evidence: {} }), turn(1, 0.9)]).map((one) => one.turn)).toEqual([1]);
  });
  it('publishes the next revision, whole, when a report says something else, and nothing when it does not', () => {
    const [first] = decide([turn(5, 0.9)]);
    const known = { revision: 1, digest: first?.digest ?? '' };
    expect(decide([turn(5, 0.9, undefined, known)])[0]?.publish).toBe(false);
    expect(decide([turn(4, 1), turn(5, 0.8, 0.9, known)])[1]).toMatchObject({ publish: true, revision: 2 });
  });
  it('says the same to the letter when stored facts come back with their fields in another order', () => {
    const reversed = <T extends object>(value: T): T => Object.fromEntries(Object.entries(value).reverse()) as T;
    const signal = { trace_id: 'a', failing_tools: ['refund'], error: 'Error' };
    const fresh = turn(5, 0.3);
    const facts = { ...fresh.facts, signals: [signal] };
    const stored: EvaluatedTurn = {
      ...fresh,
      facts: { ...facts, signals: [reversed(signal)] },
      evidence: { 1: { answer: 1, pending: false, scores: [reversed(score('task_completion', 0.3))] } },
    };
    const [first] = decide([{ ...fresh, facts }]);
    expect(decide([{ ...stored, revision: 1, digest: first?.digest ?? '' }])[0]).toMatchObject({ publish: false, revision: 1 });
  });
  it('corrects a turn far behind the newest without publishing it again', () => {
    const old = turn(0, 0.9, undefined, { revision: 1, digest: 'something else' });
    expect(decide([old, turn(9, 0.9)])[0]).toMatchObject({ publish: false, correctedQuietly: true, revision: 1 });
    expect(decide([old, turn(3, 0.9)])[0]).toMatchObject({ publish: true, revision: 2, correctedQuietly: false });
  });
  it('leaves out a turn that came too late to be folded', () => {
    expect(decide([turn(0, 0.9, undefined, { folded: false }), turn(1, 0.3)])[0]).toMatchObject({
      turn: 1,
      fired: [],
    });
  });
  it('counts scores of a tier only while the fold asks for it', () => {
    const [, second] = decide([turn(0, 0.9), turn(1, 0.9, 0.1)]);
    expect(second?.report).toMatchObject({ severity: null, signatures: [], scores: [{ metric: 'task_completion' }] });
  });
  it('decides the same from any cut: what was folded before and what is folded again agree', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })), {
          minLength: 2,
          maxLength: 30,
        }),
        fc.nat(),
        (values, at) => {
          const turns = values.map(([one, two], t) => turn(t, one, two));
          const cut = at % turns.length;
          const digestOf = (report: object): string => JSON.stringify(report);
          const all = refold({ before: untouched, turns, newest: turns.length - 1, digestOf });
          const first = refold({ before: untouched, turns: turns.slice(0, cut), newest: turns.length - 1, digestOf });
          const rest = refold({ before: first.after, turns: turns.slice(cut), newest: turns.length - 1, digestOf });
          expect([...first.decisions, ...rest.decisions]).toEqual(all.decisions);
          expect(rest.after).toEqual(all.after);
        },
      ),
    );
  });
});
