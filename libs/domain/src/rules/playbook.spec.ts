import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lintRule } from './lint.js';
import { NoveltyIndex } from './novelty-index.js';
import type { ComparedRule, NoveltyCheck } from './novelty.js';
import { checkRuleText } from './rule-text.js';

const file = fileURLToPath(new URL('../../../../../shared/data/rules/appworld_online_trained_playbook.txt', import.meta.url));

function playbook(): { id: string; rule: string }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, id, rule] = /^\[([a-z]+-\d+)\] (.*)$/.exec(line) ?? [];
      return id === undefined || rule === undefined ? [] : [{ id, rule }];
    });
}

// A playbook that other people's agents learned; what the numbers mean is told in docs/rules.md.
const there = existsSync(file) || process.env['CI'] === 'true' ? describe : describe.skip;
there('a learned playbook (skipped where ../shared/data is absent)', () => {
  const rules = playbook();

  it('passes the lint whole', () => {
    expect(rules).toHaveLength(359);
    expect(rules.filter(({ rule }) => lintRule(rule).length > 0)).toEqual([]);
    expect(rules.filter(({ rule }) => !checkRuleText(rule).accepted)).toEqual([]);
  });

  it('proposed rule by rule keeps its restatements out', () => {
    const index = new NoveltyIndex<ComparedRule>();
    const refused = new Map<NoveltyCheck, number>();
    for (const [at, { id, rule }] of rules.entries()) {
      const proposal = {
        id,
        rule,
        scope: 'appworld',
        status: 'active',
        created_at: at,
        tags: [],
        failure_signatures: [],
      } as const;
      const novelty = index.check(proposal);
      if (novelty.verdict === 'novel') index.set(proposal);
      else refused.set(novelty.by.check, (refused.get(novelty.by.check) ?? 0) + 1);
      expect(index.check(proposal).verdict).not.toBe('novel');
    }
    expect(Object.fromEntries(refused)).toEqual({ exact_text: 21, near_duplicate_text: 19 });
  });
});
