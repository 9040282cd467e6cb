import { describe, expect, it } from '@jest/globals';
import type { Turn } from '#contracts';
import { numberOf, outcomeInTurn, scoresInTurn } from './sent-scores.js';

const turn = (scores: Turn['scores']): Turn => ({ session_id: 's', turn_index: 0, ...(scores === undefined ? {} : { scores }) });

describe('the scores in a turn', () => {
  it('are its metrics without the outcome, which is the word of the agent about itself', () => {
    const one = turn([
      { metric: 'style', value: 0.5, reason: 'fair', trace_id: 't' },
      { metric: 'outcome_correct', value: true },
    ]);
    expect(scoresInTurn(one)).toEqual([{ metric: 'style', trace: 't', value: 0.5, reason: 'fair' }]);
    expect(outcomeInTurn(one)).toEqual([{ metric: 'outcome_correct', trace: '', value: 1, reason: null }]);
  });

  it('are the first ones said about the same thing', () => {
    const values = [
      { metric: 'style', value: 0.1 },
      { metric: 'style', value: 0.2 },
      { metric: 'style', value: 0.3, trace_id: 't' },
      { metric: 'style', value: 0.4, trace_id: 't' },
    ];
    expect(scoresInTurn(turn(values)).map(({ value }) => value)).toEqual([0.1, 0.3]);
  });

  it('are none where none were sent', () => {
    expect([scoresInTurn(turn(undefined)), outcomeInTurn(turn([]))]).toEqual([[], []]);
  });

  it('read true and false as 1 and 0', () => {
    expect([true, false, null, 0.25].map(numberOf)).toEqual([1, 0, null, 0.25]);
  });
});
