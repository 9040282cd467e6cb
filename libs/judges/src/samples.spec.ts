import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ModelError } from '#llm';
import { JudgementError } from './judgement.js';
import { medianVerdict } from './samples.js';

type Said = number | Error;

/** Asks in turn for what is listed, and counts. */
function asker(...list: readonly Said[]) {
  let count = 0;
  return {
    ask: () => {
      const next = list[count];
      count += 1;
      if (next === undefined) return Promise.reject(new Error('asked too often'));
      if (typeof next !== 'number') return Promise.reject(next);
      return Promise.resolve({ value: next, reason: `reason ${count}` });
    },
    asked: () => count,
  };
}

const failed = new JudgementError('content', 'declined');

describe('medianVerdict', () => {
  it.each([
    ['one sample is the value', [0.4], { samples: 1, confirmBreach: false }, 0.4, 'reason 1'],
    ['three samples: the one in the middle', [0.9, 0.1, 0.4], { samples: 3, confirmBreach: false }, 0.4, 'reason 3'],
    ['two samples: their mean, the first reason', [0.25, 0.75], { samples: 2, confirmBreach: false }, 0.5, 'reason 1'],
    ['a failed one of several is left out', [failed, 0.7, 0.7], { samples: 3, confirmBreach: false }, 0.7, 'reason 2'],
    [
      'a breach is judged twice more, and can be taken back',
      [0.2, 0.8, 0.9],
      { samples: 1, confirmBreach: true },
      0.8,
      'reason 2',
    ],
    ['a breach is judged twice more, and can stand', [0.2, 0.3, 0.9], { samples: 1, confirmBreach: true }, 0.3, 'reason 2'],
    ['a value at the threshold is no breach', [0.5], { samples: 1, confirmBreach: true }, 0.5, 'reason 1'],
    [
      'confirmation that fails leaves the first value',
      [0.2, failed, failed],
      { samples: 1, confirmBreach: true },
      0.2,
      'reason 1',
    ],
    ['confirmation counts with all samples', [0.2, 0.4, 0.3, 1, 1], { samples: 3, confirmBreach: true }, 0.4, 'reason 2'],
  ])('%s', async (_name, list, options, value, reason) => {
    const { ask, asked } = asker(...list);
    const verdict = await medianVerdict(ask, { threshold: 0.5, ...options });
    expect(verdict.value).toBeCloseTo(value, 12);
    expect(verdict.reason).toBe(reason);
    expect(asked()).toBe(list.length);
  });

  it('fails with the first failure when no sample is left', async () => {
    const { ask } = asker(new JudgementError('content', 'a'), new JudgementError('invalid_output', 'b'));
    await expect(medianVerdict(ask, { samples: 2, threshold: 0.5, confirmBreach: true })).rejects.toMatchObject({
      code: 'content',
    });
  });

  it('does not ask again about what is too large', async () => {
    const { ask, asked } = asker(new JudgementError('too_large', 'a'));
    await expect(medianVerdict(ask, { samples: 3, threshold: 0.5, confirmBreach: false })).rejects.toMatchObject({
      code: 'too_large',
    });
    expect(asked()).toBe(1);
  });

  it('throws at once what is no failed judgement', async () => {
    const { ask, asked } = asker(0.3, new ModelError('rate_limit', 'wait'));
    await expect(medianVerdict(ask, { samples: 3, threshold: 0.5, confirmBreach: false })).rejects.toMatchObject({
      kind: 'rate_limit',
    });
    expect(asked()).toBe(2);
  });

  it('never leaves the range of what was said', async () => {
    const said = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(said, async (values) => {
        const { value } = await medianVerdict(asker(...values).ask, {
          samples: values.length,
          threshold: 0,
          confirmBreach: false,
        });
        expect(value).toBeGreaterThanOrEqual(Math.min(...values));
        expect(value).toBeLessThanOrEqual(Math.max(...values));
      }),
    );
  });
});
