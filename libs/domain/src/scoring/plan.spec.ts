import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { metricNames, projectSettings, type ProjectSettingsPatch } from '#contracts';
import { lanes, scoringPlan, sourceOf, waitingPlace, type MetricEvaluator, type PlanParts, type ScoringPlan } from './index.js';

const parts: PlanParts = {
  hasCheck: (metric) => ['task_completion', 'coherence', 'tool_correctness'].includes(metric),
  hasJudge: (metric) => ['task_completion', 'tool_correctness', 'confidence'].includes(metric),
  checkVersion: 'check/9',
  promptHash: (metric, own) => `${metric}${own === undefined ? '' : `+${own.prompt.length}`}`,
};
const plan = (patch: ProjectSettingsPatch): ScoringPlan => scoringPlan(projectSettings.parse(patch), parts);
const evaluatorOf = (metric: string, patch: ProjectSettingsPatch): MetricEvaluator | undefined =>
  plan({ tier1_metrics: [metric], ...patch }).evaluators[metric];

describe('who makes the values of a metric', () => {
  it.each<[string, string, ProjectSettingsPatch, object]>([
    ['the check, without a model', 'task_completion', {}, { kind: 'check', version: 'check/9', hostFirst: true }],
    [
      'the judge, with one',
      'task_completion',
      { judge_model: 'm' },
      { kind: 'judge', model: 'm', version: 'judge/m/task_completion', hostFirst: true },
    ],
    ['nobody, where there is neither', 'confidence', {}, { kind: 'none', hostFirst: true }],
    ['the check, where no judge knows it', 'coherence', { judge_model: 'm' }, { kind: 'check', hostFirst: true }],
    [
      'embeddings, where a model is set',
      'coherence',
      { judge_model: 'm', embedding_model: 'e' },
      { kind: 'embedding', model: 'e', version: 'embedding/e' },
    ],
    [
      'the check all the same, where chosen',
      'task_completion',
      { judge_model: 'm', evaluators: { task_completion: 'check' } },
      { kind: 'check', hostFirst: false },
    ],
    [
      'the judge that has no model, where chosen',
      'task_completion',
      { evaluators: { task_completion: 'judge' } },
      { kind: 'judge', model: null, hostFirst: false },
    ],
    [
      'the host alone, where chosen',
      'task_completion',
      { judge_model: 'm', evaluators: { task_completion: 'host' } },
      { kind: 'host', hostFirst: true },
    ],
  ])('is %s', (_, metric, patch, expected) => {
    expect(evaluatorOf(metric, patch)).toMatchObject(expected);
  });

  it.each<[NonNullable<ProjectSettingsPatch['metrics']>[string], object]>([
    [
      { kind: 'judge', prompt: '{{answer}}?', output: { kind: 'boolean' } },
      { kind: 'judge', model: 'm', version: 'judge/m/mine+11', own: { prompt: '{{answer}}?' }, hostFirst: false },
    ],
    [
      { kind: 'webhook', url: 'http://h/' },
      { kind: 'webhook', url: 'http://h/', timeoutS: 30, hostFirst: false },
    ],
    [
      { kind: 'responder', timeout_s: 2 },
      { kind: 'responder', timeoutS: 2, hostFirst: false },
    ],
    [{ kind: 'host' }, { kind: 'host', hostFirst: true }],
  ])('is what the project registered: %j', (mine, expected) => {
    expect(evaluatorOf('mine', { judge_model: 'm', metrics: { mine } })).toMatchObject(expected);
  });

  it('is planned for every metric of every tier, and for no other', () => {
    const patch = { tier1_metrics: ['coherence'], tier2_metrics: ['tool_correctness'], tier3_metrics: ['confidence'] };
    expect(Object.keys(plan(patch).evaluators).sort()).toEqual(['coherence', 'confidence', 'tool_correctness']);
  });

  it('never is a model that nobody has set', () => {
    const tiers = fc.uniqueArray(fc.constantFrom(...metricNames.filter((name) => name !== 'outcome_correct')), { minLength: 1 });
    fc.assert(
      fc.property(tiers, (tier1_metrics) => {
        for (const evaluator of Object.values(plan({ tier1_metrics }).evaluators)) {
          expect(['check', 'none']).toContain(evaluator.kind);
          expect(evaluator).not.toHaveProperty('model');
        }
      }),
    );
  });
});

describe('where a value waits', () => {
  const common = { version: 'v', hostFirst: false };
  it.each<[MetricEvaluator, ReturnType<typeof waitingPlace>]>([
    [
      { ...common, kind: 'judge', model: 'm' },
      { lane: 'judge', provider: 'judge:m' },
    ],
    [{ ...common, kind: 'judge', model: null }, null],
    [
      { ...common, kind: 'embedding', model: 'e' },
      { lane: 'embedding', provider: 'embedding:e' },
    ],
    [{ ...common, kind: 'embedding', model: null }, null],
    [
      { ...common, kind: 'webhook', url: 'http://h/' },
      { lane: 'own', provider: 'webhook:mine' },
    ],
    [
      { ...common, kind: 'responder' },
      { lane: 'own', provider: 'responder:mine' },
    ],
    [{ ...common, kind: 'check' }, null],
    [{ ...common, kind: 'host' }, null],
    [{ ...common, kind: 'none' }, null],
  ])('for %j', (evaluator, place) => {
    expect(waitingPlace('mine', evaluator)).toEqual(place);
    if (place !== null) expect(lanes).toContain(place.lane);
  });

  it('has a source that tells lexical coherence from every other check', () => {
    expect([sourceOf('coherence', 'check'), sourceOf('coherence', 'embedding'), sourceOf('confidence', 'none')]).toEqual([
      'lexical',
      'embedding',
      'check',
    ]);
  });
});
