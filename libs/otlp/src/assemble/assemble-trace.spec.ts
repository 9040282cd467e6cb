import type { ReceivedSpan, Span } from '#contracts';
import { answerText, requestText, toolCalls } from '#domain/checks';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { assembleTrace } from './assemble-trace.js';

const span = (id: string, more: Partial<ReceivedSpan> = {}): ReceivedSpan => ({
  ...{ trace_id: 't', span_id: id, parent_span_id: null, name: id, kind: 'OTHER', status: 'UNSET', model: null },
  ...{ started_at: 1_000, ended_at: 2_000, metadata: {}, dialect: 'plain', session: null, agent: null, tools: [] },
  ...more,
});
const root = (more: Partial<ReceivedSpan> = {}): ReceivedSpan => span('root', { started_at: 0, ended_at: 9_000, ...more });
const child = (id: string, more: Partial<ReceivedSpan> = {}): ReceivedSpan => span(id, { parent_span_id: 'root', ...more });

const call = (id: string, name: string, args: unknown = '{}'): object => ({ id, name, arguments: args });
const says = (content: string, ...calls: object[]): object => ({
  messages: [{ role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }],
});
const asks = (content: string, ...rest: object[]): object => ({ messages: [{ role: 'user', content }, ...rest] });
const result = (id: string, content: string, more: object = {}): object => ({ role: 'tool', content, tool_call_id: id, ...more });
const kinds = (spans: readonly Span[]): string[][] => spans.map(({ span_id, kind }) => [span_id, kind]);
const byId = (spans: readonly Span[], id: string): Span | undefined => spans.find(({ span_id }) => span_id === id);

describe('an assembled trace', () => {
  it('has its spans in the order of (started_at, span_id), each below its parent', () => {
    const { trace, orphans, rootEnded } = assembleTrace([child('b'), child('a'), child('c', { started_at: 500 }), root()]);
    expect(trace.spans.map(({ span_id: id }) => id)).toEqual(['root', 'c', 'a', 'b']);
    expect(trace).toMatchObject({ trace_id: 't', name: 'root', started_at: 0, ended_at: 9_000, status: 'UNSET' });
    expect({ orphans, rootEnded }).toEqual({ orphans: [], rootEnded: true });
  });

  it('starts with its root, whatever the clock of a child says; without one with its first span', () => {
    const early = child('early', { started_at: 1 });
    expect(assembleTrace([early, root({ started_at: 50 })]).trace.started_at).toBe(50);
    expect(assembleTrace([early, child('later')]).trace.started_at).toBe(1);
  });

  it('needs a span', () => expect(() => assembleTrace([])).toThrow(RangeError));

  it('shows a span whose parent is not there at the top, and says so', () => {
    const { trace, orphans, rootEnded } = assembleTrace([span('lost', { parent_span_id: 'gone' })]);
    expect(orphans).toEqual(['lost']);
    expect(rootEnded).toBe(false);
    expect(trace.spans[0]).toMatchObject({ parent_span_id: null, metadata: { missing_parent: 'gone' } });
  });

  it('below a span of another system is told by its topmost span, and has no root', () => {
    const top = span('top', { parent_span_id: 'elsewhere', kind: 'CHAIN', status: 'OK', input: 'hi', output: 'ho' });
    const { trace, rootEnded } = assembleTrace([top, span('a', { parent_span_id: 'top', kind: 'LLM', output: 'no' })]);
    expect(trace).toMatchObject({ name: 'top', status: 'OK', input: 'hi', output: 'ho', ended_at: 2_000 });
    expect(rootEnded).toBe(false);
  });

  it('has the span that serves a request for a root where its parent is not there', () => {
    const server = span('server', { parent_span_id: 'client', entry: true, started_at: 500 });
    const alone = assembleTrace([server, span('a', { parent_span_id: 'server' })]);
    expect([alone.rootEnded, alone.orphans, alone.trace.name]).toEqual([true, [], 'server']);
    expect(alone.trace.spans[0]).toMatchObject({ parent_span_id: null, metadata: { remote_parent: 'client' } });
    expect(alone.trace.spans[0]).not.toHaveProperty('entry');
    const whole = assembleTrace([server, root(), child('client', { started_at: 100 })]);
    expect(whole.trace.name).toBe('root');
    expect(byId(whole.trace.spans, 'server')?.parent_span_id).toBe('client');
  });

  it('below a parent in another process has a root, which hangs from that parent where it was sent too', () => {
    const server = span('server', { metadata: { remote_parent: 'client' }, started_at: 500 });
    const alone = assembleTrace([server, span('a', { parent_span_id: 'server' })]);
    expect([alone.rootEnded, alone.orphans, alone.trace.name]).toEqual([true, [], 'server']);
    expect(alone.trace.spans[0]?.metadata).not.toHaveProperty('missing_parent');
    const whole = assembleTrace([server, root(), child('client', { started_at: 100 })]);
    expect(whole.trace.name).toBe('root');
    expect(byId(whole.trace.spans, 'server')).toMatchObject({ parent_span_id: 'client' });
    expect(byId(whole.trace.spans, 'server')?.metadata).not.toHaveProperty('missing_parent');
  });

  it('of parents that go round in a circle cuts the circle at its first span', () => {
    const { trace } = assembleTrace([span('b', { parent_span_id: 'a' }), span('a', { parent_span_id: 'b' })]);
    expect(trace.spans.map(({ span_id, parent_span_id }) => [span_id, parent_span_id])).toEqual([
      ['a', null],
      ['b', 'a'],
    ]);
  });

  it('whose root has not ended has no end', () => {
    const { trace, rootEnded } = assembleTrace([root({ ended_at: null }), child('a')]);
    expect(trace.ended_at).toBeUndefined();
    expect(rootEnded).toBe(false);
  });

  it.each<[string, Partial<ReceivedSpan>, Partial<ReceivedSpan>]>([
    ['ended', { ended_at: null, name: 'running' }, { name: 'kept' }],
    ['ended later', { ended_at: 1_500, name: 'early' }, { name: 'kept' }],
    ['failed', { name: 'zzz' }, { status: 'ERROR', name: 'kept' }],
    ['says more by its text', { name: 'aaa' }, { name: 'kept' }],
  ])('keeps of two versions of a span the one that %s, whichever came first', (_rule, worse, better) => {
    const versions = [span('a', worse), span('a', better)];
    for (const spans of [versions, [...versions].reverse()])
      expect(assembleTrace(spans).trace.spans).toMatchObject([{ name: 'kept' }]);
  });

  it('takes catalogues of all spans together, the first of a name', () => {
    const { tools } = assembleTrace([
      child('b', { tools: [{ name: 'x', description: 'two' }, { name: 'y' }] }),
      root({ tools: [{ name: 'x' }] }),
    ]);
    expect(tools).toEqual([{ name: 'x' }, { name: 'y' }]);
  });

  it('takes its agent from its root, else from the first span that names one; its model from the first model call', () => {
    const agent = (id: string): ReceivedSpan['agent'] => ({ id, version: null, model: null });
    const own = child('a', { agent: agent('sub'), kind: 'LLM', model: 'm' });
    expect(assembleTrace([root({ agent: agent('main'), model: 'wrong' }), own])).toMatchObject({
      agent: { id: 'main' },
      model: 'm',
    });
    expect(assembleTrace([root(), own])).toMatchObject({ agent: { id: 'sub' } });
    expect(assembleTrace([root()])).toMatchObject({ agent: null, model: null });
  });
});

describe('the session of a trace', () => {
  const named = (id: string, explicit = false): Partial<ReceivedSpan> => ({ session: { id, explicit } });
  it.each<[string, ReceivedSpan[], string | null]>([
    ['is named by any span', [root(), child('a', named('s'))], 's'],
    ['is the explicit one before all others', [root(named('r')), child('a', named('x')), child('b', named('e', true))], 'e'],
    ["is the root's before another's", [child('a', { started_at: -5, ...named('x') }), root(named('r'))], 'r'],
    ['is none when no span says one', [root(), child('a')], null],
  ])('%s', (_rule, spans, id) => expect(assembleTrace(spans).session?.id ?? null).toBe(id));
});

describe('what a trace was asked and answered', () => {
  const llm = (id: string, more: Partial<ReceivedSpan>): ReceivedSpan => child(id, { kind: 'LLM', ...more });
  it.each<[string, ReceivedSpan[], unknown, unknown]>([
    [
      'stands on its root',
      [root({ input: { q: 1 }, output: 'done' }), llm('a', { input: asks('no'), output: says('no') })],
      { q: 1 },
      'done',
    ],
    ['comes down to words', [root({ input: asks('hi'), output: says('ho') })], 'hi', 'ho'],
    [
      "is else the agent's",
      [root(), child('a', { kind: 'AGENT', input: 'in', output: 'out' }), llm('b', { output: says('no') })],
      'in',
      'out',
    ],
    [
      'is else the first request and the last answer',
      [root(), llm('a', { input: asks('hi'), output: says('one') }), llm('b', { started_at: 1_500, output: says('two') })],
      'hi',
      'two',
    ],
    [
      'is empty when the last answer only calls a tool',
      [root(), llm('a', { input: asks('hi'), output: says('', call('1', 'x')) })],
      'hi',
      '',
    ],
    ['is unknown when nobody recorded it', [root(), llm('a', {})], undefined, undefined],
  ])('%s', (_rule, spans, input, output) => {
    const { trace } = assembleTrace(spans);
    expect([trace.input, trace.output]).toEqual([input, output]);
    if (typeof input === 'string') expect([requestText(trace), answerText(trace)]).toEqual([input, output]);
  });
});

describe('a call seen by two instrumentations', () => {
  it('is one: of two model spans in each other the fuller one stays, completed by the other', () => {
    const outer = child('outer', { kind: 'LLM', input: asks('hi'), output: says('ho') });
    const inner = span('inner', { kind: 'LLM', parent_span_id: 'outer', model: 'm', token_usage: { input_tokens: 5 } });
    const { trace } = assembleTrace([root(), outer, inner]);
    expect(kinds(trace.spans)).toEqual([
      ['root', 'OTHER'],
      ['inner', 'CHAIN'],
      ['outer', 'LLM'],
    ]);
    expect(byId(trace.spans, 'outer')).toMatchObject({ model: 'm', token_usage: { input_tokens: 5 } });
    expect(byId(trace.spans, 'inner')?.metadata).toMatchObject({ same_call_as: 'outer' });
  });

  it('is told from two calls below one model span, which then is none itself', () => {
    const below = (id: string): ReceivedSpan => span(id, { kind: 'LLM', parent_span_id: 'outer' });
    const { trace } = assembleTrace([span('outer', { kind: 'LLM', started_at: 0 }), below('a'), below('b')]);
    expect(kinds(trace.spans)).toEqual([
      ['outer', 'CHAIN'],
      ['a', 'LLM'],
      ['b', 'LLM'],
    ]);
    expect(byId(trace.spans, 'outer')?.metadata).not.toHaveProperty('same_call_as');
  });

  it('is told from a call that a tool makes in turn, and from one with another response id', () => {
    const tool = span('tool', { kind: 'TOOL', parent_span_id: 'outer' });
    const inTool = [span('outer', { kind: 'LLM' }), tool, span('inner', { kind: 'LLM', parent_span_id: 'tool' })];
    const other = (id: string, parent: string | null, response: string): ReceivedSpan =>
      span(id, { kind: 'LLM', parent_span_id: parent, metadata: { response_id: response } });
    for (const spans of [inTool, [other('a', null, '1'), other('b', 'a', '2')]])
      expect(assembleTrace(spans).trace.spans.filter(({ kind }) => kind === 'LLM')).toHaveLength(2);
  });

  it.each<[string, number, number]>([
    ['at the same time is one', 1_500, 1],
    ['later is a second one', 2_500, 2],
  ])('with the same id %s', (_rule, started, count) => {
    for (const [kind, metadata] of [
      ['LLM', { response_id: 'r' }],
      ['TOOL', { tool_call_id: 'c' }],
    ] as const) {
      const spans = [
        root(),
        child('a', { kind, metadata }),
        child('b', { kind, metadata, started_at: started, ended_at: 9_000 }),
      ];
      expect(assembleTrace(spans).trace.spans.filter((one) => one.kind === kind)).toHaveLength(count);
    }
  });

  it('as a tool in a tool of the same name is one', () => {
    const spans = [child('a', { kind: 'TOOL', name: 'look' }), span('b', { kind: 'TOOL', name: 'look', parent_span_id: 'a' })];
    expect(toolCalls(assembleTrace([root(), ...spans]).trace)).toHaveLength(1);
    expect(
      toolCalls(assembleTrace([root(), ...spans, span('c', { kind: 'TOOL', name: 'look', parent_span_id: 'a' })]).trace),
    ).toHaveLength(3);
  });
});

describe('tool calls', () => {
  const first = child('m1', { kind: 'LLM', output: says('', call('c1', 'look', '{"at":1}'), call('c2', 'look', '{"at":2}')) });
  const second = child('m2', {
    ...{ kind: 'LLM' as const, started_at: 5_000, ended_at: 6_000 },
    input: asks(
      'hi',
      result('c1', 'found'),
      result('c2', 'no such place', { is_error: true }),
      result('old', 'of an earlier turn'),
    ),
    output: says('', call('c3', 'book')),
  });

  it('that only messages show become spans, with their results', () => {
    const { trace } = assembleTrace([root(), first, second]);
    const derived = trace.spans.filter(({ kind }) => kind === 'TOOL');
    expect(derived).toEqual([
      {
        ...{
          span_id: 'm1/call/0',
          parent_span_id: 'root',
          name: 'look',
          kind: 'TOOL',
          status: 'OK',
          input: '{"at":1}',
          output: 'found',
        },
        ...{ started_at: 2_000, ended_at: 5_000, metadata: { derived: true, tool_call_id: 'c1' } },
      },
      expect.objectContaining({ span_id: 'm1/call/1', status: 'ERROR', error: 'no such place', input: '{"at":2}' }),
      expect.objectContaining({ span_id: 'm2/call/0', name: 'book', status: 'UNSET' }),
    ]);
    expect(toolCalls(trace).map(({ failed, outcomeKnown }) => [failed, outcomeKnown])).toEqual([
      [false, true],
      [true, true],
      [false, false],
    ]);
  });

  it('never double recorded ones, and tell them what they do not say', () => {
    const recorded = child('t1', {
      kind: 'TOOL',
      name: 'DynamicTool',
      metadata: { tool_call_id: 'c1' },
      started_at: 3_000,
      ended_at: 4_000,
    });
    const { trace } = assembleTrace([root(), first, recorded, second]);
    expect(byId(trace.spans, 't1')).toMatchObject({
      ...{ name: 'look', input: '{"at":1}', output: 'found', status: 'UNSET' },
      metadata: { derived: ['name', 'input', 'output'], span_name: 'DynamicTool', tool_call_id: 'c1' },
    });
    // c2 was run, since its result was shown; c3 was asked for and not run.
    expect(toolCalls(trace).map(({ spanId }) => spanId)).toEqual(['m1/call/1', 't1']);
  });

  it('are joined by name in order where spans have no call ids', () => {
    const recorded = (id: string, started_at: number): ReceivedSpan =>
      child(id, { kind: 'TOOL', name: 'look', input: {}, output: `own ${id}`, started_at, ended_at: started_at + 1 });
    const { trace } = assembleTrace([root(), first, recorded('t2', 3_500), recorded('t1', 3_000), second]);
    expect(toolCalls(trace).map(({ spanId, input, failed }) => [spanId, input, failed])).toEqual([
      ['t1', '{"at":1}', false],
      ['t2', '{"at":2}', true],
    ]);
    expect(byId(trace.spans, 't1')?.output).toBe('own t1');
  });

  it('are found once, however often histories repeat them', () => {
    const again = child('m3', {
      kind: 'LLM',
      started_at: 7_000,
      input: second.input,
      output: says('', call('c1', 'look', '{"at":1}')),
    });
    expect(toolCalls(assembleTrace([root(), first, second, again]).trace)).toHaveLength(3);
  });
});

describe('any spans', () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const message = fc.oneof(
    fc.record({ role: fc.constant('tool'), content: fc.string(), tool_call_id: ids }),
    fc.record({
      role: fc.constant('assistant'),
      content: fc.string(),
      tool_calls: fc.array(fc.record({ id: ids, name: ids, arguments: fc.jsonValue() }), { maxLength: 2 }),
    }),
  );
  const content = fc.oneof(fc.jsonValue(), fc.record({ messages: fc.array(message, { maxLength: 4 }) }));
  const anySpan: fc.Arbitrary<ReceivedSpan> = fc.record({
    ...{ trace_id: fc.constant('t'), span_id: ids, parent_span_id: fc.option(ids), name: ids },
    kind: fc.constantFrom('LLM' as const, 'TOOL' as const, 'AGENT' as const, 'OTHER' as const),
    status: fc.constantFrom('UNSET' as const, 'OK' as const, 'ERROR' as const),
    ...{ input: content, output: content, model: fc.option(ids), started_at: fc.nat(9), ended_at: fc.option(fc.nat(9)) },
    metadata: fc.record({ tool_call_id: ids, response_id: ids }, { requiredKeys: [] }),
    dialect: fc.constant('plain'),
    session: fc.option(fc.record({ id: ids, explicit: fc.boolean() })),
    ...{ agent: fc.constant(null), tools: fc.constant([]) },
  });

  it('make the same trace in any order and however often they come', () => {
    const shuffled = fc
      .array(anySpan, { minLength: 1, maxLength: 12 })
      .chain((spans) =>
        fc.tuple(
          fc.constant(spans),
          fc.shuffledSubarray([...spans, ...spans.map((one) => ({ ...one }))], { minLength: spans.length * 2 }),
        ),
      );
    fc.assert(fc.property(shuffled, ([spans, again]) => expect(assembleTrace(again)).toEqual(assembleTrace(spans))));
  });

  it('lose none of them, and name no parent that is not there', () => {
    fc.assert(
      fc.property(fc.array(anySpan, { minLength: 1, maxLength: 12 }), (spans) => {
        const { trace } = assembleTrace(spans);
        const found = new Set(trace.spans.map(({ span_id: id }) => id));
        expect(trace.spans).toHaveLength(found.size);
        for (const { span_id: id } of spans) expect(found).toContain(id);
        for (const { parent_span_id: parent } of trace.spans) if (typeof parent === 'string') expect(found).toContain(parent);
      }),
    );
  });
});
