import { describe, expect, it } from '@jest/globals';
import { scriptedModel } from '../../fixtures/scripted-model.js';
import { span, taskFor, trace } from '../../fixtures/traces.js';
import { Judgement } from '../judgement.js';
import { explicitPlan } from './plan.js';

const planned = trace([span({ span_id: 'a', output: 'I will\n  1. look up   the order\n  2. refund it' })], {
  input: 'refund me',
});
const withJson = trace([span({ span_id: 'a', kind: 'TOOL', name: 'todo', input: { plan: 'look up\nthe "old" order' } })]);

const planIn = (of: typeof planned, ...steps: readonly (readonly [step: string, quote: string])[]): Promise<string[]> => {
  const model = scriptedModel({ plan: { steps: steps.map(([step, quote]) => ({ step, quote })) } });
  return explicitPlan(new Judgement(taskFor('plan_quality', of), model)).then((plan) => plan.map(({ step }) => step));
};

describe('explicitPlan', () => {
  it('keeps steps whose quotes stand in the trace, whatever the white space, in their order', async () => {
    expect(await planIn(planned, ['refund', 'refund it'], ['look up', 'look up the\norder'])).toEqual(['refund', 'look up']);
    expect(await planIn(withJson, ['look up', 'look up\nthe "old" order'])).toEqual(['look up']);
  });

  it.each([
    ['is not in the trace', 'apologise to the customer'],
    ['says it in other words', 'look the order up'],
    ['is too short to mean anything', 'it'],
    ['is empty', ' '],
    ['quotes our own labels', '1. LLM gpt'],
  ])('drops a step whose quote %s', async (_why, quote) => {
    expect(await planIn(planned, ['x', quote])).toEqual([]);
  });

  it('counts a step that is quoted twice once', async () => {
    expect(await planIn(planned, ['a', 'refund it'], ['b', 'refund  it'])).toEqual(['a']);
  });
});
