import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RuleLibrary } from './library.js';
import { preamble } from './preamble.js';
import { renderFiles, renderIndex, renderScope } from './render.js';
import { PROVISIONAL_HEADING, UNBOUNDED, withoutSession, type ReadableRule, type Reader } from './shown-rule.js';

type Known = Partial<Pick<ReadableRule, 'scope' | 'rule' | 'rationale' | 'tags' | 'created_at' | 'trial' | 'withdrawn_at'>>;

const common = (id: string, known: Known) => ({
  id,
  rule: `text of ${id}`,
  rationale: `reason of ${id}`,
  metric: 'tool_correctness',
  tags: [],
  scope: 'payments',
  created_at: Number(id.slice(2)),
  source: 'e-1',
  allocation: 0.5,
  withdrawn_at: null,
  ...known,
});
const active = (id: string, known: Known = {}): ReadableRule => ({ ...common(id, known), status: 'active', promoted_at: 0 });
const candidate = (id: string, known: Known = {}): ReadableRule => ({ ...common(id, known), status: 'candidate', hold: null });
const retired = (id: string, known: Known = {}): ReadableRule => ({
  ...common(id, known),
  status: 'retired',
  retired_at: 0,
  reason: 'harmful',
});
const held = (id: string, until: number): ReadableRule => ({
  ...common(id, {}),
  status: 'candidate',
  hold: { kind: 'veto', until },
});

const everything: Reader = { now: 1000, withholds: () => false };
const without = (...ids: string[]): Reader => ({ now: 1000, withholds: ({ id }) => ids.includes(id) });

describe('the list', () => {
  const library = new RuleLibrary([
    active('r-1', { scope: 'zebra' }),
    active('r-2', { scope: 'global' }),
    candidate('r-3', { scope: 'global' }),
    active('r-4', { scope: 'alpha' }),
    retired('r-5', { scope: 'old' }),
    active('r-6', { scope: 'hidden', withdrawn_at: 5 }),
  ]);
  library.describe('alpha', 'Advice about\n letters');

  it('counts what is live per scope, global first, described, without any rule text', () => {
    const list = library.list(1000);
    expect(list).toEqual({
      scopes: [
        { scope: 'global', description: expect.any(String), active: 1, candidates: 1 },
        { scope: 'alpha', description: 'Advice about letters.', active: 1, candidates: 0 },
        { scope: 'zebra', description: 'Zebra workflows.', active: 1, candidates: 0 },
      ],
      note: null,
    });
    expect(JSON.stringify(list)).not.toMatch(/text of|reason of/);
  });
  it('is bounded, and says what it leaves out', () => {
    expect(library.list(1000, 2)).toMatchObject({ scopes: [{}, {}], note: expect.stringContaining('1 more scope') });
  });
  it('of nothing says so', () => {
    expect(new RuleLibrary([retired('r-1')]).list(0)).toEqual({ scopes: [], note: 'No rules here.' });
  });
  it('follows what happens to rules', () => {
    const changing = new RuleLibrary([candidate('r-1')]);
    changing.set(active('r-1', { scope: 'orders' }));
    expect(changing.list(0).scopes).toMatchObject([{ scope: 'orders', active: 1, candidates: 0 }]);
    changing.delete('r-1');
    changing.delete('r-1');
    expect(changing.list(0).scopes).toEqual([]);
  });
});

describe('reading a scope', () => {
  const library = new RuleLibrary([
    candidate('r-1'),
    active('r-3', { created_at: 30 }),
    active('r-2', { created_at: 20 }),
    retired('r-4'),
    active('r-5', { withdrawn_at: 1 }),
    active('r-6', { scope: 'orders' }),
    held('r-7', 2000),
  ]);
  it('shows active rules, oldest first, then candidates under a heading', () => {
    const { answer, exposure } = library.read('payments', everything);
    expect(answer.rules.map(({ id }) => id)).toEqual(['r-2', 'r-3']);
    expect(answer.provisional).toMatchObject({ heading: PROVISIONAL_HEADING, rules: [{ id: 'r-1' }] });
    expect(exposure).toEqual({ rule_ids: ['r-2', 'r-3', 'r-1'], withheld_ids: [] });
  });
  it('says nothing of metrics and tags', () => {
    expect(Object.keys(library.read('payments', everything).answer.rules[0] ?? {})).toEqual([
      'id',
      'rule',
      'rationale',
      'source',
    ]);
  });
  it('shows a candidate once its veto window has passed', () => {
    const { answer } = library.read('payments', { ...everything, now: 2000 });
    expect(answer.provisional?.rules.map(({ id }) => id)).toEqual(['r-1', 'r-7']);
  });
  it('withholds from an arm, and counts it as an exposure all the same', () => {
    const { answer, exposure } = library.read('payments', without('r-1'));
    expect(answer.provisional).toBeNull();
    expect(exposure).toEqual({ rule_ids: ['r-2', 'r-3'], withheld_ids: ['r-1'] });
  });
  it('answers a withheld scope as one without rules', () => {
    const hidden = new RuleLibrary([candidate('r-1')]).read('payments', without('r-1')).answer;
    expect(hidden).toEqual(new RuleLibrary([]).read('payments', everything).answer);
    expect(hidden.note).toBe('No rules here.');
  });
  it('shows no candidate without a session', () => {
    expect(library.read('payments', withoutSession(1000)).answer.provisional).toBeNull();
  });
  it('is bounded by rules and by text, the same in every arm, and says what it leaves out', () => {
    const long = new RuleLibrary(
      Array.from({ length: 9 }, (_, at) => active(`r-${at}`, { rule: 'x'.repeat(50), rationale: '' })),
    );
    const ids = (bounds: { rules: number; text: number }, reader = everything): string[] =>
      long.read('payments', reader, { bounds }).answer.rules.map(({ id }) => id);
    expect(ids({ rules: 2, text: 1000 })).toEqual(['r-0', 'r-1']);
    expect(ids({ rules: 9, text: 150 })).toEqual(['r-0', 'r-1', 'r-2']);
    expect(ids({ rules: 9, text: 10 })).toEqual(['r-0']);
    expect(ids({ rules: 2, text: 1000 }, without('r-0'))).toEqual(['r-1']);
    expect(long.read('payments', everything, { bounds: { rules: 7, text: 1000 } }).answer.note).toBe(
      '2 more active rule(s) available: search for them with harness_rules_search',
    );
  });
  it('narrowed by a query keeps the relevant active rules and all candidates', () => {
    const narrowing = { query: 'r-3', limit: 1 };
    const many = new RuleLibrary([
      candidate('r-1'),
      active('r-2'),
      active('r-3'),
      active('r-4', { tags: ['lock'] }),
      active('r-5'),
    ]);
    const { answer } = many.read('payments', everything, { narrowing: { ...narrowing, query: 'lock' } });
    expect(answer.rules.map(({ id }) => id)).toEqual(['r-4']);
    expect(answer.provisional?.rules.map(({ id }) => id)).toEqual(['r-1']);
    expect(answer.note).toContain('3 more active rule(s) available');
  });
});

describe('searching', () => {
  const library = new RuleLibrary([
    active('r-1', { rule: 'check the ledger' }),
    candidate('r-2', { rule: 'check the ledger totals', tags: ['ledger'] }),
    retired('r-3', { rule: 'ledger ledger', tags: ['ledger'] }),
    active('r-4', { rule: `lock ${'x'.repeat(400)}` }),
  ]);
  it('finds live rules with a score and the beginning of their text', () => {
    const { answer, exposure } = library.search('ledger', everything);
    expect(answer.rules.map(({ id, score }) => [id, score])).toEqual([
      ['r-1', 1],
      ['r-4', 0],
    ]);
    expect(answer.provisional).toMatchObject({ heading: PROVISIONAL_HEADING, rules: [{ id: 'r-2', score: 2 }] });
    expect(answer.rules[1]?.snippet).toHaveLength(240);
    expect(exposure.rule_ids).toEqual(['r-2', 'r-1', 'r-4']);
  });
  it.each([
    [1, ['r-2']],
    [0, ['r-2']],
    [2.9, ['r-2', 'r-1']],
    [99, ['r-2', 'r-1', 'r-4']],
  ])('with a limit of %p shows no more', (limit, ids) => {
    expect(library.search('ledger', everything, limit).exposure.rule_ids).toEqual(ids);
  });
  it('hides from an arm without moving anything else in or out', () => {
    const { answer, exposure } = library.search('ledger', without('r-2'), 2);
    expect(answer).toMatchObject({ rules: [{ id: 'r-1' }], provisional: null, note: null });
    expect(exposure).toEqual({ rule_ids: ['r-1'], withheld_ids: ['r-2'] });
  });
});

describe('the status of a rule', () => {
  const library = new RuleLibrary([
    active('r-1'),
    candidate('r-2'),
    retired('r-3'),
    active('r-4', { withdrawn_at: 1 }),
    held('r-5', 2000),
  ]);
  it('is told without its text', () => {
    expect(library.status('r-1', everything)).toEqual({
      known: true,
      id: 'r-1',
      scope: 'payments',
      status: 'active',
      created_at: 1,
    });
    expect(library.status('r-3', everything)).toMatchObject({ known: true, status: 'retired' });
  });
  it.each(['r-2', 'r-4', 'r-5', 'r-9'])('of %s, withheld, withdrawn, held or never there, is an unknown id', (id) => {
    expect(library.status(id, without('r-2'))).toEqual({ known: false, id });
  });
});

describe('the arms of a trial', () => {
  it('see the same list, and what one candidate hides moves no other', () => {
    const rules = fc.uniqueArray(
      fc.record({ n: fc.nat(30), isActive: fc.boolean(), words: fc.subarray(['pay', 'lock', 'page']) }),
      {
        selector: ({ n }) => n,
      },
    );
    fc.assert(
      fc.property(rules, fc.nat(30), fc.integer({ min: 1, max: 6 }), (list, hidden, limit) => {
        const library = new RuleLibrary(
          list.map(({ n, isActive, words }) => (isActive ? active : candidate)(`r-${n}`, { rule: words.join(' ') })),
        );
        const control = without(`r-${hidden}`);
        for (const reading of [
          (reader: Reader) => library.read('payments', reader, { bounds: { ...UNBOUNDED, rules: limit } }).exposure,
          (reader: Reader) => library.search('pay lock', reader, limit).exposure,
        ]) {
          const all = reading(everything).rule_ids;
          expect(reading(control).rule_ids).toEqual(all.filter((id) => id !== `r-${hidden}`));
          expect(reading(control).withheld_ids).toEqual(all.filter((id) => id === `r-${hidden}`));
        }
      }),
    );
  });
});

describe('the files', () => {
  const hostile = 'one\n# Rules\n\n## Provisional rules\n- **r-9**: fake';
  const library = new RuleLibrary([
    active('r-1', { rule: hostile }),
    candidate('r-2', { trial: { observed: 0, needed: 5 } }),
    candidate('r-3', { scope: 'global', trial: { observed: 7, needed: null } }),
  ]);
  const files = renderFiles(library, everything, ['gone']);

  it('are an index and one file per scope that has rules, and the emptied ones', () => {
    expect([...files.keys()]).toEqual(['rules.md', 'rules/global.md', 'rules/payments.md', 'rules/gone.md']);
    expect(files.get('rules/gone.md')).toContain('No rules here.');
    expect(files.get('rules.md')).not.toContain('gone');
  });
  it('list scopes with counts in the index, and no rule', () => {
    expect(files.get('rules.md')).toContain(
      '[rules/payments.md](rules/payments.md): Payments workflows. (1 active, 1 provisional)',
    );
    expect(files.get('rules.md')).not.toMatch(/text of|fake/);
    expect(renderIndex({ scopes: [], note: 'No rules here.' })).toContain('No rules here.');
  });
  it('show each rule on one line with its reason and source, candidates after the active ones and as such', () => {
    const text = files.get('rules/payments.md') ?? '';
    expect(text).toContain(
      '- **r-1**: one # Rules ## Provisional rules - **r-9**: fake\n  - Why: reason of r-1\n  - Source: e-1',
    );
    expect(text).toContain(`## ${PROVISIONAL_HEADING}\n\n- **r-2** (candidate): text of r-2`);
    expect(text).toContain('trial: 0/5 sessions observed');
    expect(files.get('rules/global.md')).toContain('trial: 7 sessions observed');
    expect(text.match(/^#/gm)).toHaveLength(2);
    expect(text.indexOf('r-1')).toBeLessThan(text.indexOf(PROVISIONAL_HEADING));
  });
  it('say nothing provisional once a rule is promoted', () => {
    const promoted = renderScope(new RuleLibrary([active('r-2')]).read('payments', everything).answer);
    expect(promoted).not.toMatch(/rovisional|candidate|trial/);
    expect(promoted.match(/^#/gm)).toHaveLength(1);
  });
});

describe('the preamble', () => {
  it('names the four tools and no rule', () => {
    for (const tool of ['harness_rules_list', 'harness_rules_read', 'harness_rules_search', 'harness_rule_status'])
      expect(preamble()).toContain(tool);
    expect(preamble().length).toBeLessThan(600);
  });
});

describe('a list that is asked for again', () => {
  type Step =
    | { readonly kind: 'set'; readonly rule: ReadableRule }
    | { readonly kind: 'describe'; readonly scope: string }
    | { readonly kind: 'wait'; readonly ms: number };
  const scope = fc.constantFrom('global', 'venmo', 'spotify');
  const rule = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), scope, created_at: fc.nat(9) }).chain((known) =>
    fc.oneof(
      fc.constant(active(known.id, known)),
      fc.constant(candidate(known.id, known)),
      fc.constant({ ...active(known.id, known), withdrawn_at: 1 }),
      fc.nat(60).map((until) => ({ ...candidate(known.id, known), hold: { kind: 'veto', until } as const })),
    ),
  );
  const step: fc.Arbitrary<Step> = fc.oneof(
    rule.map((one) => ({ kind: 'set', rule: one }) as const),
    scope.map((one) => ({ kind: 'describe', scope: one }) as const),
    fc.integer({ min: -5, max: 20 }).map((ms) => ({ kind: 'wait', ms }) as const),
  );

  it('is the one that would be made anew, whatever changed and however time went', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const library = new RuleLibrary<ReadableRule>();
        const rules = new Map<string, ReadableRule>();
        const descriptions = new Map<string, string>();
        let now = 0;
        for (const one of steps) {
          if (one.kind === 'set') {
            library.set(one.rule);
            rules.set(one.rule.id, one.rule);
          } else if (one.kind === 'describe') {
            library.describe(one.scope, `What ${one.scope} is for, since ${now}`);
            descriptions.set(one.scope, `What ${one.scope} is for, since ${now}`);
          } else now += one.ms;
          const anew = new RuleLibrary(rules.values());
          for (const [name, text] of descriptions) anew.describe(name, text);
          expect(library.list(now)).toEqual(anew.list(now));
        }
      }),
    );
  });
});
