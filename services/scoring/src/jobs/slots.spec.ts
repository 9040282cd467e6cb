import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as turnOver } from 'node:timers/promises';
import { Slots } from './slots.js';

const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns += 1) await turnOver();
};
/** Evaluations that end when they are told to; `begun` names their projects in the order in which they began. */
function bench(most: number, share: number): { slots: Slots; begun: string[]; add: (project: string) => void; end: () => void } {
  const slots = new Slots(most, () => share);
  const begun: string[] = [];
  const open: (() => void)[] = [];
  return {
    ...{ slots, begun },
    add: (project) =>
      void slots.run(project, () => {
        begun.push(project);
        return new Promise<void>((resolve) => open.push(resolve));
      }),
    end: () => open.shift()?.(),
  };
}

describe('slots', () => {
  it('keep one free of a project that would take them all', async () => {
    const { slots, begun, add } = bench(4, 3);
    for (let index = 0; index < 16; index += 1) add('hanging');
    await settled();
    expect(begun).toEqual(['hanging', 'hanging', 'hanging']);
    add('other');
    await settled();
    expect(begun).toEqual(['hanging', 'hanging', 'hanging', 'other']);
    expect([...slots.held]).toEqual([
      ['hanging', 16],
      ['other', 1],
    ]);
  });

  it('go to whose project has the fewest, and within a project to who came first', async () => {
    const slots = new Slots(1, () => 1);
    const done: string[] = [];
    const add = (project: string, name: string): Promise<void> => slots.run(project, () => Promise.resolve(void done.push(name)));
    await Promise.all([add('a', 'a1'), add('a', 'a2'), add('b', 'b1'), add('a', 'a3')]);
    expect(done.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
    expect(slots.held.size).toBe(0);
  });

  it('are given back by an evaluation that fails', async () => {
    const slots = new Slots(1, () => 1);
    await expect(slots.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await slots.run('a', () => Promise.resolve(1))).toBe(1);
  });

  it('are never more in use than there are, nor more of one project than its share, and none is left unused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 }),
        async (most, share, projects) => {
          const running = new Map<string, number>();
          const slots = new Slots(most, () => share);
          const change = (project: string, by: number): void => void running.set(project, (running.get(project) ?? 0) + by);
          await Promise.all(
            projects.map((project) =>
              slots.run(project, async () => {
                change(project, 1);
                const counts = [...running.values()];
                expect(Math.max(...counts)).toBeLessThanOrEqual(share);
                expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(most);
                await turnOver();
                change(project, -1);
              }),
            ),
          );
          expect(slots.held.size).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});
