import { describe, expect, it } from '@jest/globals';
import { projectSettings, type ProjectSettingsPatch } from '#contracts';
import { priceTable } from '#llm';
import { costOfOne, costOfProvider } from './cost-limits.js';

const prices = priceTable({
  mine: { inputPerMillion: 1, outputPerMillion: 10 },
  vectors: { inputPerMillion: 1, outputPerMillion: 0 },
});
const cost = (lane: 'judge' | 'embedding' | 'own', patch: ProjectSettingsPatch): number | null =>
  costOfOne(lane, projectSettings.parse(patch), prices);

describe('what one value may cost', () => {
  it('grows with the samples, and with the two that confirm a breach', () => {
    const one = cost('judge', { judge_model: 'mine', confirm_breach: false }) ?? NaN;
    expect(one).toBeGreaterThan(0);
    expect(cost('judge', { judge_model: 'mine', confirm_breach: true })).toBeCloseTo((one / 3) * 5, 12);
    expect(cost('judge', { judge_model: 'mine', confirm_breach: false, judge_samples: 4 })).toBeCloseTo(one * 2, 12);
  });

  it('is one call for an embedding', () => {
    const judged = cost('judge', { judge_model: 'vectors', confirm_breach: false }) ?? NaN;
    expect(cost('embedding', { embedding_model: 'vectors' })).toBeCloseTo(judged / 3, 12);
  });

  it('is unknown without a model or a price, and for what no model makes', () => {
    expect([cost('judge', {}), cost('judge', { judge_model: 'unheard-of' }), cost('own', { judge_model: 'mine' })]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('is told by the model that a job waits for, whichever is set by now', () => {
    const settings = projectSettings.parse({ judge_model: 'vectors', embedding_model: null, judge_samples: 2 });
    const judged = (model: string): number | null => costOfOne('judge', { ...settings, judge_model: model }, prices);
    const of = (provider: string): number | null => costOfProvider(provider, settings, prices);
    expect([of('judge:mine'), of('judge:vectors')]).toEqual([judged('mine'), judged('vectors')]);
    expect(of('embedding:vectors')).toBe(costOfOne('embedding', { ...settings, embedding_model: 'vectors' }, prices));
    expect(['judge:unheard-of', 'judge:', 'webhook:mine', 'responder:mine', 'verifier', 'nobody'].map(of)).toEqual(
      Array(6).fill(null),
    );
    const named = priceTable({ 'org/model:free': { inputPerMillion: 1, outputPerMillion: 1 } });
    expect(costOfProvider('judge:org/model:free', settings, named)).toBeGreaterThan(0);
  });
});
