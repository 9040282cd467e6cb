import { describe, expect, it } from '@jest/globals';
import { chooseCases, replayVerdict, type ReplayableCase, type ReplayedCase, type Run } from './replay-verdict.js';
import { targetSignatures } from './signatures.js';

const rule = { metric: 'tool_correctness', tags: ['breach:tool_correctness'] };
const margins = { rule_promote_margin: 0.05, rule_regress_margin: 0.05 };
type Scores = Readonly<Record<string, number>>;

const failure = (id: string, baseline: Scores, more: Partial<ReplayableCase> = {}): ReplayableCase => ({
  ...{ id, kind: 'failure', signature: ['breach:tool_correctness'], baseline, replayable: true },
  ...more,
});
const win = (id: string, baseline: Scores): ReplayableCase => failure(id, baseline, { kind: 'win', signature: ['healthy'] });
const scored = (of: ReplayableCase, scores: Scores, read = true): ReplayedCase => ({
  case: of,
  run: { result: 'scored', read, scores },
});
const ended = (of: ReplayableCase, run: Run): ReplayedCase => ({ case: of, run });
const verdict = (...replayed: ReplayedCase[]) => replayVerdict(rule, replayed, margins);

const low = failure('f', { tool_correctness: 0.3 });

describe('the verdict of replays by method threshold', () => {
  it.each<[string, ReplayedCase[], object]>([
    ['promotes when the target metric improves', [scored(low, { tool_correctness: 0.9 })], { outcome: 'promote' }],
    ['retires without an improvement', [scored(low, { tool_correctness: 0.3 })], { outcome: 'retire' }],
    [
      'retires when a win falls on any metric',
      [scored(low, { tool_correctness: 0.9 }), scored(win('w', { coherence: 0.9 }), { coherence: 0.2 })],
      { outcome: 'retire', reason: 'case w fell on coherence' },
    ],
    [
      'does not retire when a failure falls on a metric that the rule does not answer for',
      [scored(failure('f', { tool_correctness: 0.3, coherence: 0.4 }), { tool_correctness: 0.9, coherence: 0.25 })],
      { outcome: 'promote' },
    ],
    [
      'retires when a failure falls on one that it answers for',
      [scored(low, { tool_correctness: 0.1 })],
      { outcome: 'retire', reason: 'case f fell on tool_correctness' },
    ],
    [
      'lets the verifier decide before any other metric',
      [scored(failure('f', { tool_correctness: 0.2, outcome_correct: 0.1 }), { tool_correctness: 0.95, outcome_correct: 0.1 })],
      { outcome: 'retire' },
    ],
    ['is pending without a case', [], { outcome: 'pending', pending_reason: 'no_matching_replayable_case' }],
    [
      'is pending when a run fails',
      [ended(low, { result: 'failed', read: true })],
      { pending_reason: 'replay_inconclusive', inconclusive: 1 },
    ],
    [
      'is pending when an environment never came',
      [ended(low, { result: 'not_started', read: false })],
      { pending_reason: 'env_wait_timeout', inconclusive: 1 },
    ],
    [
      'is pending when the candidate was never read',
      [scored(low, { tool_correctness: 0.9 }, false)],
      { pending_reason: 'candidate_not_exercised', inconclusive: 1, unexercised: 1 },
    ],
    [
      'is pending without a shared metric',
      [scored(failure('f', {}), { tool_correctness: 0.9 })],
      { pending_reason: 'replay_inconclusive' },
    ],
    [
      'is pending when only a win concludes',
      [ended(low, { result: 'failed', read: true }), scored(win('w', { coherence: 0.9 }), { coherence: 0.9 })],
      { outcome: 'pending', pending_reason: 'replay_inconclusive' },
    ],
    [
      'names the environment when it was missing at least as often as the candidate went unread',
      [scored(low, { tool_correctness: 0.9 }, false), ended(low, { result: 'not_started', read: false })],
      { pending_reason: 'env_wait_timeout' },
    ],
  ])('%s', (_, replayed, expected) => {
    expect(verdict(...replayed)).toMatchObject(expected);
  });
});

describe('the cases to replay', () => {
  const targets = targetSignatures(rule);
  const newest = (count: number) => Array.from({ length: count }, (_, at) => failure(`f-${at}`, {}));
  const wins = [win('w-0', {}), win('w-1', {}), win('w-2', {})];

  it('are at most three failures of the rule’s signatures and two wins, the newest first', () => {
    expect(chooseCases([...wins, ...newest(5)], targets).map(({ id }) => id)).toEqual(['f-0', 'f-1', 'f-2', 'w-0', 'w-1']);
  });

  it('are none without a replayable failure, whatever wins there are', () => {
    expect(chooseCases(wins, targets)).toEqual([]);
    expect(chooseCases([...wins, failure('f', {}, { replayable: false })], targets)).toEqual([]);
    expect(chooseCases([...wins, failure('f', {}, { signature: ['breach:other'] })], targets)).toEqual([]);
  });
});
