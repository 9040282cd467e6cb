import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  answerNoveltyLine,
  answerScopeLine,
  answerSearchLine,
  type NoveltyLine,
  type ScopeLine,
  type SearchLine,
} from './golden.js';

const folder = fileURLToPath(new URL('../../../../../shared/golden', import.meta.url));

type Line<L> = L & Record<string, unknown>;

function lines<L>(file: string): Line<L>[] {
  const parsed = readFileSync(`${folder}/${file}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line<L>);
  if (parsed.length < 20) throw new Error(`${file} holds only ${parsed.length} lines`);
  return parsed;
}

/** Wording is ours; everything else has to be equal, absent members too. */
function withoutErrors(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member: unknown) => (name === 'error' ? undefined : member)));
}

function less<L extends object>(line: Line<L>, ...inputs: string[]): unknown {
  return withoutErrors(Object.fromEntries(Object.entries(line).filter(([name]) => !inputs.includes(name))));
}

// In CI the lent files are there; that they are missing must not pass for a skip.
const golden = existsSync(folder) || process.env['CI'] === 'true' ? describe : describe.skip;
golden('golden answers of rules (skipped where ../shared/golden is absent)', () => {
  it('scope: every line is equal', () => {
    for (const line of lines<ScopeLine>('scope'))
      expect({ line, answer: withoutErrors(answerScopeLine(line)) }).toEqual({ line, answer: less(line, 'input', 'context') });
  });
  it('novelty: every line is equal', () => {
    for (const line of lines<NoveltyLine>('novelty'))
      expect({ line, answer: withoutErrors(answerNoveltyLine(line)) }).toEqual({
        line,
        answer: less(line, 'existing', 'proposal'),
      });
  });
  it('search: every line is equal', () => {
    for (const line of lines<SearchLine & { by_scope: object }>('search')) {
      const answer = withoutErrors(answerSearchLine({ ...line, scopes_asked: Object.keys(line.by_scope) }));
      expect({ line, answer }).toEqual({ line, answer: less(line, 'rules', 'query', 'limit') });
    }
  });
});

describe('a line', () => {
  it('whose times are none is refused', () => {
    const rule = {
      id: 'r',
      created_at: 'soon',
      rule: 'a',
      rationale: '',
      metric: null,
      status: 'active',
      tags: [],
      scope: 'x',
    } as const;
    expect(() => answerSearchLine({ rules: [rule], query: '', limit: 1 })).toThrow('created_at');
  });
});
