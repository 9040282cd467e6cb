import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { embeddingScale, embeddingTarget, LEXICAL_SCALE, type CoherenceScale } from './coherence-scales.js';

const text = readFileSync(new URL('../../../../docs/coherence.md', import.meta.url), 'utf8');

/** The numbers of the table rows that begin with these cells. */
function numbers(...cells: readonly string[]): number[] {
  const start = `| ${cells.join(' | ')} |`;
  const row = text.split('\n').find((line) => line.startsWith(start)) ?? '';
  return row
    .slice(start.length)
    .split('|')
    .filter((cell) => /^ [\d.]+ $/.test(cell))
    .map(Number);
}

describe('the scales of coherence', () => {
  it.each<[string, string, CoherenceScale | null]>([
    ['lexical', '`coherence@lexical`', LEXICAL_SCALE],
    ['local', '`coherence@embedding`, local', embeddingScale('local')],
  ])('of %s (%s) is the measured one of docs/coherence.md', (source, gate, scale) => {
    const [pairs, low, , middle, , high, auc] = numbers(source, 'matched');
    expect(pairs).toBe(761);
    expect(scale?.matched).toEqual([low, middle, high]);
    expect(scale?.auc).toBe(auc);
    const [, lowBeside, , middleBeside, , highBeside] = numbers(source, 'beside the point');
    expect(scale?.beside).toEqual([lowBeside, middleBeside, highBeside]);
    expect(Object.values(scale?.gate ?? {})).toEqual(numbers(gate));
  });

  it('is unknown for every other model, so that it cannot gate by a number made for another', () => {
    expect(embeddingTarget('local')).toBe(0.61);
    for (const model of ['text-embedding-3-small', 'Local', '', 'constructor']) {
      expect(embeddingScale(model)).toBeNull();
      expect(embeddingTarget(model)).toBeNull();
    }
  });
});
