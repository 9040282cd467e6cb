import { describe, expect, it } from '@jest/globals';
import type { RepairResult } from '#contracts';
import { runResultOf, type EndedRun } from './run-result.js';
import { settlementOf, type LiveEpisode, type SettleState } from './settlement.js';

const done: SettleState = { known: true, skipped: null, reported: true, noticed: true, run_ended: false, episodes: [] };
const episode = (state: string, waits_for: string | null = null, due_in_s = 0): LiveEpisode => ({
  age_s: 60,
  work: { state, waits_for, due_in_s },
});
const unseen = (age_s: number): LiveEpisode => ({ age_s, work: null });

describe('settlementOf', () => {
  it.each<[string, Partial<SettleState>, boolean, string | null]>([
    ['waits for a turn that is not stored', { known: false, reported: false, noticed: false }, false, 'turn'],
    ['waits for the report', { reported: false, noticed: false }, false, 'report'],
    ['waits for the notices', { noticed: false }, false, 'notices'],
    ['is settled when nothing is left', {}, true, null],
    ['is settled at once for a turn that was skipped', { skipped: 'rate', reported: false, noticed: false }, true, null],
    ['waits for a repair that has not begun', { episodes: [episode('waiting')] }, false, 'repair'],
    ['waits for a repair under way', { episodes: [episode('running')] }, false, 'repair'],
    ['waits for an episode that was opened a moment ago', { episodes: [unseen(1)] }, false, 'repair'],
    ['does not wait where nobody repairs', { episodes: [unseen(6)] }, true, 'no_repair_service'],
    ['waits for a run that is due again in time', { episodes: [episode('waiting', 'backoff', 5)] }, false, 'backoff'],
    ['does not wait for one that is due later', { episodes: [episode('waiting', 'backoff', 11)] }, true, 'backoff'],
    ['does not wait for an operator', { episodes: [episode('blocked', 'operator')] }, true, 'operator'],
    ...(['hourly_limit', 'cost_limit', 'observe_only', 'model'] as const).map(
      (why): [string, Partial<SettleState>, boolean, string] => [
        `does not wait for ${why}`,
        { episodes: [episode('waiting', why)] },
        true,
        why,
      ],
    ),
    [
      'waits for the one episode that is repaired',
      { episodes: [episode('waiting', 'model'), episode('running')] },
      false,
      'repair',
    ],
    ['waits for one run only, whatever it came to', { run_ended: true, episodes: [episode('running')] }, true, 'repair'],
    ['says why another run is not near', { run_ended: true, episodes: [episode('waiting', 'backoff', 99)] }, true, 'backoff'],
  ])('%s', (_, state, settled, waiting) => {
    expect(settlementOf({ ...done, ...state }, 10)).toEqual({ settled, waiting });
  });
});

describe('runResultOf', () => {
  const run: RepairResult = {
    ...{
      episode_id: 'e-1',
      incident_id: 'i-1',
      session_id: 'a',
      turn_index: 1,
      notice_ids: ['n-1'],
      run: 2,
      status: 'candidate_added',
    },
    ...{
      candidate_rule_id: 'r-1',
      existing_rule_id: null,
      recommended_scope: null,
      selected_scope: 'global',
      scope_rationale: null,
    },
    ...{
      considered_rule_ids: [],
      suppression_reason: null,
      error_category: null,
      note: null,
      turns: 3,
      tool_calls: 4,
      model: 'm',
    },
    ...{
      usage: { calls: 3, input_tokens: 9, output_tokens: 9, cost_usd: 1, notes: [] },
      decided_by: null,
      started_at: 1,
      ended_at: 2,
    },
  };
  const place = { incident_id: 'i-1', session_id: 'b', turn_index: 7, notice_ids: ['n-7'] };

  it('is the run itself for its own episode', () => {
    const own: EndedRun = { ...place, episode_id: 'e-1', outcome: { status: 'candidate_added', rule_id: 'r-1' }, run };
    expect(runResultOf(own)).toBe(run);
  });
  it('is the end of the incident, without cost, for an episode that was decided by another', () => {
    const taken = runResultOf({ ...place, episode_id: 'e-7', outcome: { status: 'already_covered', rule_id: 'r-1' }, run });
    expect(taken).toMatchObject({
      ...place,
      episode_id: 'e-7',
      status: 'already_covered',
      existing_rule_id: 'r-1',
      decided_by: 'e-1',
    });
    expect(taken).toMatchObject({ candidate_rule_id: null, model: null, usage: { calls: 0, cost_usd: 0 } });
  });
  it('says how the run of another failed', () => {
    const failed = { ...run, status: 'failed' as const, error_category: 'turn_limit' };
    expect(runResultOf({ ...place, episode_id: 'e-7', outcome: null, run: failed })).toMatchObject({
      ...{ status: 'failed', error_category: 'turn_limit', existing_rule_id: null, decided_by: 'e-1' },
    });
  });
});
