import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { caseOfPair, judgePair, type PairEnd, type RunEnd } from './replay-pairs.js';

const chosen = { failures: ['f1', 'f2', 'f3'], wins: ['w1', 'w2'] };
const row = (cases: typeof chosen, pairs: number): (string | undefined)[] =>
  Array.from({ length: pairs }, (_, at) => caseOfPair(at + 1, cases)?.id);

describe('the pairs of a candidate', () => {
  it('go round the failures, with a win after every second one', () => {
    expect(row(chosen, 9)).toEqual(['f1', 'f2', 'w1', 'f3', 'f1', 'w2', 'f2', 'f3', 'w1']);
  });
  it('go round the failures alone where there is no win', () => {
    expect(row({ ...chosen, wins: [] }, 5)).toEqual(['f1', 'f2', 'f3', 'f1', 'f2']);
  });
  it('do not exist without a failure', () => {
    expect(caseOfPair(1, { failures: [], wins: ['w1'] })).toBeNull();
  });
});

const scored = (scores: Record<string, number>, surfaced = true): RunEnd => ({ scores, surfaced });
const failed: RunEnd = { scores: null, surfaced: true, reason: 'replay_inconclusive' };
const never: RunEnd = { scores: null, surfaced: false, reason: 'env_wait_timeout' };
const failure = { kind: 'failure', id: 'f1' } as const;
const win = { kind: 'win', id: 'w1' } as const;
const targets = ['outcome_correct', 'tool_correctness'];
const reasonOf = (end: PairEnd): string | null => (end.counted ? null : end.reason);

describe('a pair', () => {
  it('compares the first target metric that both runs have', () => {
    const end = judgePair(
      failure,
      { with: scored({ tool_correctness: 0.75, coherence: 1 }), without: scored({ tool_correctness: 0.5, coherence: 0 }) },
      targets,
    );
    expect(end).toMatchObject({ counted: true, observation: { kind: 'pair', delta: 0.25 } });
  });
  it('compares every common metric on a win', () => {
    const end = judgePair(win, { with: scored({ a: 0.5, b: 1, c: 1 }), without: scored({ a: 1, b: 1 }) }, targets);
    expect(end).toMatchObject({ counted: true, observation: { kind: 'win_pair', caseId: 'w1', deltas: { a: -0.5, b: 0 } } });
  });
  it.each<[string, RunEnd, RunEnd, string]>([
    ['no common metric', scored({ tool_correctness: 1 }), scored({ coherence: 1 }), 'replay_inconclusive'],
    ['no target among the common metrics', scored({ coherence: 1 }), scored({ coherence: 1 }), 'replay_inconclusive'],
    ['a run that failed', failed, scored({ tool_correctness: 1 }), 'replay_inconclusive'],
    [
      'a control that never came to the rule',
      scored({ tool_correctness: 1 }),
      scored({ tool_correctness: 1 }, false),
      'candidate_not_exercised',
    ],
    [
      'a treated run that never came to it',
      scored({ tool_correctness: 1 }, false),
      scored({ tool_correctness: 1 }),
      'candidate_not_exercised',
    ],
    ['an environment that never came', scored({ tool_correctness: 1 }), never, 'env_wait_timeout'],
  ])('says nothing with %s', (_, treated, control, reason) => {
    expect(reasonOf(judgePair(failure, { with: treated, without: control }, targets))).toBe(reason);
  });
  it('says the opposite when its runs change places', () => {
    const score = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(score, score, (a, b) => {
        const delta = (treated: number, control: number): number => {
          const runs = { with: scored({ tool_correctness: treated }), without: scored({ tool_correctness: control }) };
          const end = judgePair(failure, runs, targets);
          return end.counted && end.observation.kind === 'pair' ? end.observation.delta : NaN;
        };
        expect(delta(a, b) + delta(b, a)).toBe(0);
      }),
    );
  });
});
