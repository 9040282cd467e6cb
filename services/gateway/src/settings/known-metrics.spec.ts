import { describe, expect, it } from '@jest/globals';
import { builtInMetrics, metricNames, projectSettings, type KnownMetric, type ProjectSettingsPatch } from '#contracts';
import { hasCheck } from '#domain/checks';
import { judgedMetrics } from '#judges';
import { knownMetricsOf } from './known-metrics.js';

function metrics(patch: ProjectSettingsPatch = {}, blocked: Record<string, string> = {}): Record<string, KnownMetric> {
  const items = knownMetricsOf(projectSettings.parse(patch), (provider) => blocked[provider] ?? null);
  return Object.fromEntries(items.map((item) => [item.metric, item]));
}

const judge = { kind: 'judge', prompt: 'How kind is {{answer}}?', output: { kind: 'boolean' } } as const;

describe('the metrics of a project', () => {
  it('are all that are built in, each once, with who measures them by default', () => {
    const known = metrics();
    expect(Object.keys(known).sort()).toEqual([...metricNames].sort());
    const told = Object.values(known).map(({ metric, tiers, evaluator, source, measured }) => [
      metric,
      tiers,
      evaluator,
      source,
      measured,
    ]);
    expect(told).toEqual([
      ['outcome_correct', [0], 'verifier', 'verifier', true],
      ['task_completion', [1], 'check', 'check', true],
      ['coherence', [1], 'check', 'lexical', true],
      ['tool_correctness', [2], 'check', 'check', true],
      ['argument_correctness', [2], 'check', 'check', true],
      ['plan_adherence', [3], null, null, false],
      ['plan_quality', [3], null, null, false],
      ['step_efficiency', [3], 'check', 'check', false],
      ['confidence', [], null, null, false],
      ['loop_detection', [], 'check', 'check', false],
    ]);
  });

  it('go by the same word on who has a check or a judge as the services', () => {
    for (const [metric, kinds] of Object.entries(builtInMetrics) as [string, readonly string[]][]) {
      expect([metric, hasCheck(metric)]).toEqual([metric, kinds.includes('check')]);
      expect([metric, (judgedMetrics as readonly string[]).includes(metric)]).toEqual([metric, kinds.includes('judge')]);
    }
  });

  it.each<[string, ProjectSettingsPatch, string, RegExp]>([
    ['no tier names', {}, 'confidence', /no tier names it/],
    ['has neither check nor model', { enable_tier3: true }, 'plan_quality', /set judge_model/],
    [
      'is chosen to be judged by no model',
      { evaluators: { task_completion: 'judge' } },
      'task_completion',
      /judge_model is not set/,
    ],
    [
      'is chosen to be embedded by no model',
      { evaluators: { coherence: 'embedding' } },
      'coherence',
      /embedding_model is not set/,
    ],
    ['is in a tier that is off', { judge_model: 'm' }, 'plan_quality', /set enable_tier3/],
    [
      'the project registered as a judge without a model',
      { metrics: { tone: judge }, tier2_metrics: ['tone'] },
      'tone',
      /judge_model/,
    ],
  ])('say why a metric that %s is not measured', (_, patch, metric, note) => {
    expect(metrics(patch)[metric]).toMatchObject({ measured: false, note: expect.stringMatching(note) });
  });

  it('say that the provider of a metric is blocked', () => {
    const known = metrics({ judge_model: 'm' }, { 'judge:m': 'the key is refused' });
    expect(known['task_completion']).toMatchObject({
      evaluator: 'judge',
      model: 'm',
      measured: false,
      note: 'the key is refused',
    });
    expect(known['coherence']).toMatchObject({ measured: true, note: null });
  });

  it('have thresholds and gate settings as they are in force', () => {
    const known = metrics({
      gate_window: 7,
      thresholds: { tool_correctness: 0.8 },
      gate_overrides: { task_completion: { gate_drop: 0.3 }, 'coherence@lexical': { gate_target: 0.2 } },
    });
    const gate = { gate_window: 7, gate_target: 0.5, gate_gain: 0.02, gate_drop: 0.15, may_fire: true };
    expect(known['task_completion']).toMatchObject({ threshold: 0.5, breaches: false, gate: { ...gate, gate_drop: 0.3 } });
    expect(known['coherence']?.gate).toEqual({ ...gate, gate_target: 0.2 });
    expect(known['tool_correctness']).toMatchObject({ threshold: 0.8, breaches: true, gate: null });
    expect(known['outcome_correct']).toMatchObject({ threshold: 0.9, breaches: true });
    expect(metrics()['coherence']?.gate?.may_fire).toBe(false);
  });

  it('are also those that the project registered', () => {
    const known = metrics({
      judge_model: 'm',
      metrics: { tone: judge, hook: { kind: 'webhook', url: 'http://x' }, asked: { kind: 'responder' }, sent: { kind: 'host' } },
      tier1_metrics: ['tone', 'sent', 'asked'],
      tier2_metrics: ['hook', 'tone'],
    });
    expect(known['tone']).toMatchObject({ registered: true, tiers: [1, 2], evaluator: 'judge', model: 'm', host_first: false });
    expect(known['hook']).toMatchObject({ evaluator: 'webhook', source: 'webhook', measured: true });
    expect(known['asked']).toMatchObject({ evaluator: 'responder', note: expect.stringContaining('responder') });
    expect(known['sent']).toMatchObject({ evaluator: 'host', host_first: true, note: 'when the host sends it' });
    expect(known['task_completion']).toMatchObject({ tiers: [], measured: false });
  });
});
