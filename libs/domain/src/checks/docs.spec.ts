import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { answerScoreLine, checkedMetrics, EVALUATOR } from './index.js';
import { FACTORS } from './task-completion.js';

const text = readFileSync(new URL('../../../../docs/checks.md', import.meta.url), 'utf8');
/** Rows of the table of worked examples: metric, input line as code, value or code of a not applicable score. */
const rows = [...text.matchAll(/^\| `(\w+)` \| `(\{.*\})` \| ([\d.]+|`\w+`) \|/gm)].map(
  ([, metric = '', line = '', result = '']) => ({
    metric,
    line: JSON.parse(line) as Record<string, unknown>,
    result: result.replaceAll('`', ''),
  }),
);

describe('docs/checks.md', () => {
  it('has at least one worked example for every check, and names the version', () => {
    expect([...new Set(rows.map(({ metric }) => metric))].sort()).toEqual([...checkedMetrics].sort());
    expect(text).toContain(`\`${EVALUATOR}\``);
  });

  it.each(rows)('$metric of $line is $result', ({ metric, line, result }) => {
    const score = answerScoreLine({ ...line, metrics: [metric] }).scores[0];
    expect(score?.value === null ? score.code : score?.value?.toFixed(4)).toBe(
      /^\d/.test(result) ? Number(result).toFixed(4) : result,
    );
  });

  it('names every factor of task_completion with its value', () => {
    const documented = [...text.matchAll(/^\| `(\w+)` \| (0\.\d+) \|/gm)].map(([, name, value]) => [name, Number(value)]);
    expect(Object.fromEntries(documented)).toEqual(FACTORS);
  });
});
