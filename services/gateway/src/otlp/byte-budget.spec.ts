import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteBudget } from './byte-budget.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a budget of bytes', () => {
  it('refuses what is over it, and takes it when something was given back', () => {
    const budget = new ByteBudget(100);
    expect([budget.tryTake(60, true), budget.tryTake(41, true), budget.tryTake(40, true)]).toEqual([true, false, true]);
    budget.give(60);
    expect(budget.tryTake(41, true)).toBe(true);
  });

  it('keeps its reserve from large requests, and nothing from small ones', () => {
    const budget = new ByteBudget(100, 25);
    expect([budget.tryTake(76, true), budget.tryTake(75, true), budget.tryTake(1, true)]).toEqual([false, true, false]);
    expect([budget.tryTake(25, false), budget.tryTake(1, false)]).toEqual([true, false]);
  });

  it('lets those who wait go first come, first served, a small one behind a large one too', async () => {
    const budget = new ByteBudget(10);
    const order: string[] = [];
    await budget.take(8);
    void budget.take(5).then(() => order.push('large'));
    void budget.take(1).then(() => order.push('small'));
    await settled();
    expect(order).toEqual([]);
    budget.give(8);
    await settled();
    expect(order).toEqual(['large', 'small']);
  });

  it('gives one that is larger than all of it everything, alone', async () => {
    const budget = new ByteBudget(10);
    await budget.take(1_000);
    expect(budget.tryTake(1, false)).toBe(false);
    budget.give(1_000);
    expect(budget.tryTake(10, false)).toBe(true);
  });

  it('never holds more than it has and serves everybody', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 40 }), async (sizes) => {
        const budget = new ByteBudget(20);
        let held = 0;
        let most = 0;
        const one = async (bytes: number): Promise<void> => {
          await budget.take(bytes);
          held += Math.min(bytes, 20);
          most = Math.max(most, held);
          await settled();
          held -= Math.min(bytes, 20);
          budget.give(bytes);
        };
        await Promise.all(sizes.map(one));
        expect(most).toBeLessThanOrEqual(20);
        expect(budget.tryTake(20, false)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
