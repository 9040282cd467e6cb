import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ack, add, inspect, readNotice, RepairScene, RULE, ruleOf, search } from './repair-scene.js';

let scene: RepairScene;
beforeEach(async () => {
  scene = await RepairScene.open();
});
afterEach(() => scene.close());

const first = (of: { notices: readonly string[] }): string => of.notices[0] ?? '';

describe('a repair', () => {
  it('reads, proposes one rule, acknowledges it, and ends as candidate_added', async () => {
    const hint = { key: 'Payments', description: 'paying bills', recommended: true };
    const result = await scene.repaired({ notices: [{ hints: [hint], recommended: 'payments' }] }, (planted) => [
      [readNotice(first(planted))],
      [inspect('t1')],
      [search('paid bills')],
      [add({ scope_rationale: 'It is about payments.', tags: ['bills'], metric: 'tool_correctness' })],
      [ack(first(planted), ruleOf(planted), { note: 'a check before paying' })],
    ]);
    const { planted } = result;
    expect(result).toMatchObject({
      ...{ status: 'candidate_added', run: 1, candidate_rule_id: ruleOf(planted), existing_rule_id: null, decided_by: null },
      ...{ recommended_scope: 'payments', selected_scope: 'payments', scope_rationale: 'It is about payments.' },
      ...{ turns: 5, tool_calls: 5, model: 'our-own', note: 'a check before paying', error_category: null },
      usage: { calls: 5, input_tokens: 60, output_tokens: 35, cost_usd: null },
    });
    expect(result.ended_at).toBeGreaterThanOrEqual(result.started_at);
    expect(await scene.rules()).toMatchObject([
      {
        ...{
          id: ruleOf(planted),
          status: 'candidate',
          scope: 'payments',
          metric: 'tool_correctness',
          author: 'repair',
          model: 'our-own',
        },
        ...{ rule: RULE.rule, episode: planted.episode, source_notices: planted.notices, hold: null },
      },
    ]);
    expect(await scene.query('SELECT scope, description FROM rules.scopes')).toEqual([
      { scope: 'payments', description: 'paying bills.' },
    ]);
    expect(await scene.notices()).toEqual({ [first(planted)]: 'acknowledged' });
    expect(scene.told.map(({ subject }) => subject)).toEqual([
      'fm.default.rule.candidate.payments',
      'fm.default.rule.changed',
      `fm.default.notice.resolved.candidate_added.${planted.session}`,
      'fm.default.episode.settled.candidate_added',
    ]);
    const journal = await scene.journal();
    expect(journal.slice(-2).concat(journal.slice(0, 1))).toEqual(
      expect.arrayContaining(['repair_started', 'repair_completed', 'repair_notice_resolved']),
    );
    expect(journal.filter((type) => type === 'repair_model_turn' || type === 'repair_tool_call')).toHaveLength(10);
    expect(journal.filter((type) => type === 'repair_candidate_added')).toHaveLength(1);
  });
});
