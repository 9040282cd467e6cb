import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { answerSanitizeLine, type SanitizeLine } from './golden.js';

const file = new URL('../../../../../shared/golden/sanitize.jsonl', import.meta.url);

interface GoldenLine extends SanitizeLine {
  readonly output: unknown;
  readonly once?: string;
}

function goldenLines(): GoldenLine[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as GoldenLine);
}

describe('sanitize.jsonl', () => {
  if (!existsSync(file) && process.env['CI'] !== 'true') {
    it.skip(`is not there: ${file.pathname}`, () => undefined);
    return;
  }
  const lines = goldenLines();
  it.each([...new Set(lines.map((line) => line.kind))])('answers every line of kind %s', (kind) => {
    for (const line of lines.filter((candidate) => candidate.kind === kind)) {
      const answers = line.once === undefined ? { output: line.output } : { once: line.once, output: line.output };
      expect({ line, answer: answerSanitizeLine(line) }).toEqual({ line, answer: answers });
    }
  });
  it('was really read', () => {
    expect(lines.length).toBeGreaterThan(100);
  });
  it('refuses a kind it does not know', () => {
    expect(() => answerSanitizeLine({ kind: 'other', input: '' })).toThrow(RangeError);
  });
});
