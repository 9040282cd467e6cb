import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { scriptedModel } from '../fixtures/scripted-model.js';
import { booking, taskFor } from '../fixtures/traces.js';
import { judge, judgedMetrics, placeholders } from './index.js';

const text = readFileSync(new URL('../../../docs/judges.md', import.meta.url), 'utf8');
/** Rows of the table of metrics: name and calls. */
const calls = [...text.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(
  ([, metric = '', count = '']) => [metric, Number(count)] as const,
);

const verdict = { reason: 'because', verdict: 1 };
const answers = {
  ...Object.fromEntries(judgedMetrics.map((metric) => [metric, verdict])),
  argument_correctness: { verdicts: ['c1', 'c2'].map((id) => ({ id, reason: '', correct: 'yes' })) },
  task_and_outcome: { task: 'a', outcome: 'b' },
  tools: { asked: 'a', called: [], available: [] },
  plan: { steps: [{ step: 'a', quote: 'Book the cheapest' }] },
};

describe('docs/judges.md', () => {
  it('has a row and a part of its own for every judged metric', () => {
    expect(calls.map(([metric]) => metric)).toEqual(judgedMetrics);
    for (const metric of judgedMetrics) expect(text).toMatch(new RegExp(`^### .*${metric}`, 'm'));
  });

  it.each(calls)('says right that %s takes %d calls', async (metric, count) => {
    const { usage } = await judge(taskFor(metric, booking), scriptedModel(answers));
    expect(usage.calls).toBe(count);
  });

  it('names every placeholder', () => {
    for (const name of placeholders) expect(text).toContain(`{{${name}}}`);
  });
});
