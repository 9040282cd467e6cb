import { describe, expect, it } from '@jest/globals';
import { decideClaim, type Cover } from './claim.js';

const cover = (more: Partial<Cover>): Cover => ({ ruleId: 'r-1', status: 'active', withdrawn: false, shown: false, ...more });
const settle = (status: string, ruleId = 'r-1') => ({ kind: 'settle', status, ruleId });
const ask = { kind: 'ask' };

describe('an episode that a worker has taken', () => {
  it.each([
    ['nothing stands for it', { crashed: false, candidate: null, cover: null }, ask],
    ['the run before died and wrote nothing', { crashed: true, candidate: null, cover: null }, ask],
    ['a crashed run wrote its rule', { crashed: true, candidate: 'r-9', cover: null }, settle('candidate_added', 'r-9')],
    ['a failed run wrote its rule', { crashed: false, candidate: 'r-9', cover: null }, ask],
    [
      'its incident has a rule on trial',
      { crashed: false, candidate: null, cover: cover({ status: 'candidate' }) },
      settle('already_covered'),
    ],
    ['its session was not shown the proven rule', { crashed: false, candidate: null, cover: cover({}) }, settle('duplicate')],
    ['its session was shown the proven rule', { crashed: false, candidate: null, cover: cover({ shown: true }) }, ask],
    ['the rule is retired', { crashed: false, candidate: null, cover: cover({ status: 'retired' }) }, ask],
    ['the rule is withdrawn', { crashed: false, candidate: null, cover: cover({ status: 'candidate', withdrawn: true }) }, ask],
  ])('when %s', (_, facts, decision) => {
    expect(decideClaim(facts)).toEqual(decision);
  });
});
