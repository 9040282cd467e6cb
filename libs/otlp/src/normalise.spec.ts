import { receivedSpan, type ReceivedSpan } from '#contracts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeTraces, normaliseSpan, type Attributes, type AttributeValue, type OtlpSpan } from './index.js';

const attributesOf = (record: Readonly<Record<string, unknown>>): Attributes =>
  new Map(Object.entries(record) as [string, AttributeValue][]);

const otlp = (attributes: Readonly<Record<string, unknown>>, more: Partial<OtlpSpan> = {}): OtlpSpan => ({
  ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentSpanId: null, name: 'span', events: [], notes: [] },
  ...{ start: 1_769_000_000_123_456_789n, end: 1_769_000_001_000_000_000n, status: { code: 'UNSET', message: '' } },
  ...{ resource: new Map(), scope: { name: '', version: '', attributes: new Map() } },
  ...more,
  attributes: attributesOf(attributes),
});
const read = (attributes: Readonly<Record<string, unknown>>, more: Partial<OtlpSpan> = {}): ReceivedSpan =>
  normaliseSpan(otlp(attributes, more), 7);
const event = (name: string, attributes: Readonly<Record<string, unknown>>): OtlpSpan['events'][number] => ({
  name,
  time: null,
  attributes: attributesOf(attributes),
});
const scope = (name: string): Partial<OtlpSpan> => ({ scope: { name, version: '', attributes: new Map() } });
const said = (...messages: object[]): object => ({ messages });
const user = (content: string): object => ({ role: 'user', content });
const assistant = (content: string, ...calls: object[]): object => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 ? { tool_calls: calls } : {}),
});

const CALL = { id: 'c1', name: 'look', arguments: '{"at":1}' };
const OPENAI_ANSWER = {
  id: 'r1',
  choices: [
    {
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
      },
    },
  ],
};
const TOOLS = [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }];
const TOOL = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };

describe('a model call', () => {
  it.each<[string, string, Record<string, unknown>, Partial<OtlpSpan>, object]>([
    [
      'otel-genai',
      'messages as JSON',
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }]),
        'gen_ai.output.messages': JSON.stringify([
          { role: 'assistant', parts: [{ type: 'tool_call', ...CALL }], finish_reason: 'tool_call' },
        ]),
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: 'be kind' }]),
        'gen_ai.tool.definitions': JSON.stringify(TOOLS),
        'gen_ai.response.model': 'm',
        'gen_ai.usage.input_tokens': 5,
        'gen_ai.usage.output_tokens': null,
      },
      {},
      {
        ...{ kind: 'LLM', model: 'm', tools: [TOOL], token_usage: { input_tokens: 5, output_tokens: null } },
        ...{ input: said({ role: 'system', content: 'be kind' }, user('hi')), output: said(assistant('', CALL)) },
      },
    ],
    [
      'otel-genai',
      'one event per message',
      { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' },
      {
        events: [
          event('gen_ai.user.message', { content: 'hi' }),
          event('gen_ai.choice', {
            index: 0,
            message: JSON.stringify({ role: 'assistant', tool_calls: OPENAI_ANSWER.choices[0]!.message.tool_calls }),
          }),
        ],
      },
      { kind: 'LLM', model: 'm', input: said(user('hi')), output: said(assistant('', CALL)) },
    ],
    [
      'otel-genai',
      'one event for all messages',
      { 'gen_ai.operation.name': 'chat' },
      {
        events: [
          event('gen_ai.client.inference.operation.details', {
            'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
            'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'ho' }] }]),
          }),
        ],
      },
      { kind: 'LLM', input: said(user('hi')), output: said(assistant('ho')) },
    ],
    [
      'openinference',
      'numbered attributes',
      {
        'openinference.span.kind': 'LLM',
        'llm.model_name': 'm',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.content': 'hi',
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'c1',
        'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'look',
        'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"at":1}',
        'llm.output_messages.0.message.contents.0.tool_call.id': 'c1',
        'llm.output_messages.0.message.contents.0.tool_call.function.name': 'look',
        'llm.tools.0.tool.json_schema': JSON.stringify(TOOLS[0]),
        'llm.token_count.prompt': '12',
        'input.value': '{"said":"again"}',
        'output.value': JSON.stringify(OPENAI_ANSWER),
      },
      {},
      {
        ...{ kind: 'LLM', model: 'm', tools: [TOOL], token_usage: { input_tokens: 12 }, metadata: { response_id: 'r1' } },
        ...{ input: said(user('hi')), output: said(assistant('', { id: 'c1', name: 'look' })) },
      },
    ],
    [
      'openinference',
      "Anthropic's answers of tools, which have the role of the user",
      {
        'openinference.span.kind': 'LLM',
        'llm.input_messages.0.message.role': 'user',
        'llm.input_messages.0.message.tool_call_id': 'c1',
        'llm.input_messages.0.message.content': 'found',
      },
      {},
      { input: said({ role: 'tool', content: 'found', tool_call_id: 'c1' }) },
    ],
    [
      'openinference',
      "LangChain's messages in the value",
      {
        'openinference.span.kind': 'LLM',
        'input.value': JSON.stringify({
          messages: [[{ id: ['langchain_core', 'messages', 'HumanMessage'], lc: 1, kwargs: { content: 'hi' } }]],
        }),
        'output.value': JSON.stringify({
          generations: [
            [
              {
                text: '',
                message: {
                  id: ['langchain_core', 'messages', 'AIMessage'],
                  kwargs: { content: '', tool_calls: [{ id: 'c1', name: 'look', args: { at: 1 } }] },
                },
              },
            ],
          ],
        }),
      },
      {},
      { input: said(user('hi')), output: said(assistant('', { id: 'c1', name: 'look', arguments: { at: 1 } })) },
    ],
    [
      'traceloop',
      'the older numbered attributes',
      {
        'llm.request.type': 'chat',
        'gen_ai.prompt.0.role': 'user',
        'gen_ai.prompt.0.content': 'hi',
        'gen_ai.prompt.1.role': 'tool',
        'gen_ai.prompt.1.content': 'found',
        'gen_ai.prompt.1.tool_call_id': 'c0',
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.finish_reason': 'tool_calls',
        'gen_ai.completion.0.tool_calls.0.id': 'c1',
        'gen_ai.completion.0.tool_calls.0.name': 'look',
        'gen_ai.completion.0.tool_calls.0.arguments': '{"at":1}',
        'llm.request.functions.0.name': 'look',
        'llm.request.functions.0.description': 'Looks.',
        'llm.request.functions.0.parameters': '{"type":"object"}',
        'gen_ai.usage.prompt_tokens': 3,
      },
      {},
      {
        ...{ kind: 'LLM', tools: [TOOL], token_usage: { input_tokens: 3 } },
        ...{ input: said(user('hi'), { role: 'tool', content: 'found', tool_call_id: 'c0' }), output: said(assistant('', CALL)) },
      },
    ],
    [
      'openlit',
      'the prompt as lines',
      { 'gen_ai.operation.name': 'chat', 'telemetry.sdk.name': 'openlit' },
      {
        events: [
          event('gen_ai.content.prompt', { 'gen_ai.prompt': 'system: be kind\nuser: hi\nyou' }),
          event('gen_ai.content.completion', { 'gen_ai.completion': 'ho' }),
        ],
      },
      { kind: 'LLM', input: said({ role: 'system', content: 'be kind' }, user('hi\nyou')), output: said(assistant('ho')) },
    ],
    [
      'langsmith',
      'request and answer as one JSON text each',
      {
        'langsmith.span.kind': 'llm',
        'gen_ai.prompt': JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: TOOLS }),
        'gen_ai.completion': JSON.stringify(OPENAI_ANSWER),
        'gen_ai.response.id': 'r1',
      },
      {},
      { kind: 'LLM', tools: [TOOL], input: said(user('hi')), output: said(assistant('', CALL)), metadata: { response_id: 'r1' } },
    ],
  ])('in the words of %s: %s', (dialect, _form, attributes, more, expected) => {
    expect(read(attributes, more)).toMatchObject({ dialect, ...expected });
  });
});

describe('another step', () => {
  it.each<[string, Record<string, unknown>, Partial<OtlpSpan>, object]>([
    [
      'otel-genai',
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'look',
        'gen_ai.tool.call.id': 'c1',
        'gen_ai.tool.call.arguments': '{"at": 1',
        'gen_ai.tool.call.result': '{"found":true}',
      },
      { name: 'execute_tool look' },
      { kind: 'TOOL', name: 'look', input: '{"at": 1', output: { found: true }, metadata: { tool_call_id: 'c1' } },
    ],
    ['otel-genai', { 'gen_ai.operation.name': 'execute_tool' }, { name: 'execute_tool look' }, { kind: 'TOOL', name: 'look' }],
    [
      'otel-genai',
      { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'airline' },
      {},
      { kind: 'AGENT', agent: { id: 'airline' } },
    ],
    [
      'openinference',
      { 'openinference.span.kind': 'TOOL', 'tool.name': 'look', 'input.value': '{"at":1}', 'output.value': 'found' },
      {},
      { kind: 'TOOL', name: 'look', input: '{"at":1}', output: 'found' },
    ],
    [
      'openinference',
      { 'openinference.span.kind': 'CHAIN', 'input.value': '{"q":"hi"}', 'output.value': '{"a":"ho"}' },
      {},
      { kind: 'CHAIN', input: { q: 'hi' }, output: { a: 'ho' } },
    ],
    [
      'openinference',
      { 'openinference.span.kind': 'RETRIEVER', 'input.value': 'q', 'retrieval.documents.0.document.content': 'text' },
      {},
      { kind: 'RETRIEVER', input: 'q', output: [{ document: { content: 'text' } }] },
    ],
    [
      'traceloop',
      {
        'traceloop.span.kind': 'task',
        'gen_ai.operation.name': 'execute_tool',
        'traceloop.entity.name': 'look',
        'traceloop.entity.input': '{"args":["{\\"at\\":1}"]}',
        'traceloop.entity.output': '"found"',
      },
      {},
      { kind: 'TOOL', name: 'look', input: '{"at":1}', output: 'found' },
    ],
    [
      'traceloop',
      {
        'traceloop.span.kind': 'tool',
        'traceloop.entity.input': '{"inputs":{"at":1},"tags":[]}',
        'traceloop.entity.output': '{"outputs":"found"}',
      },
      {},
      { kind: 'TOOL', input: { at: 1 }, output: 'found' },
    ],
    ['traceloop', { 'traceloop.span.kind': 'workflow' }, scope('@traceloop/instrumentation-openai'), { kind: 'CHAIN' }],
    [
      'langsmith',
      { 'langsmith.span.kind': 'tool', 'gen_ai.prompt': '{"at":1}', 'gen_ai.completion': '{"outputs":"found"}' },
      {},
      { kind: 'TOOL', input: { at: 1 }, output: 'found' },
    ],
    ['openlit', {}, scope('@openlit/instrumentation-openai'), { kind: 'OTHER' }],
    [
      'plain',
      { 'input.value': '{"scores":[0.5,NaN,-Infinity]}', model: 'm' },
      {},
      { kind: 'OTHER', input: { scores: [0.5, null, null] }, model: 'm' },
    ],
  ])('in the words of %s: %j', (dialect, attributes, more, expected) => {
    expect(read(attributes, more)).toMatchObject({ dialect, ...expected });
  });
});

describe('what has no place', () => {
  it('is kept: attributes, events, resource and scope', () => {
    const { metadata } = read(
      { 'gen_ai.operation.name': 'chat', 'server.port': 443, __proto__x: 1, resource: 'clash' },
      {
        resource: attributesOf({ 'service.name': 'bot' }),
        scope: { name: 'lib', version: '1', attributes: new Map() },
        events: [event('retry', { attempt: 2 })],
        notes: ['startTimeUnixNano was sent in seconds'],
      },
    );
    expect(metadata).toEqual({
      ...{ 'server.port': 443, __proto__x: 1, 'attribute.resource': 'clash', resource: { 'service.name': 'bot' } },
      ...{ scope: { name: 'lib', version: '1' }, events: [{ name: 'retry', attributes: { attempt: 2 } }] },
      notes: ['startTimeUnixNano was sent in seconds'],
    });
  });

  it('does not say a second time what was read, and nothing goes when nothing was', () => {
    const repeated = { 'openinference.span.kind': 'CHAIN', 'input.mime_type': 'application/json' };
    expect(read({ ...repeated, 'input.value': 'hi' }).metadata).toEqual({});
    expect(read(repeated).metadata).toEqual({ 'input.mime_type': 'application/json' });
  });

  it('is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 1_100 }, (_, n) => [`a${n}`, n]));
    const { metadata } = read(many, { events: Array.from({ length: 300 }, () => event('e', {})) });
    expect(Object.keys(metadata)).toHaveLength(1_024 + 2);
    expect(metadata['events']).toHaveLength(256);
    expect(metadata['notes']).toEqual(['76 attributes more than 1024 were left out', '44 events more than 256 were left out']);
  });

  it('may have keys that look like a prototype', () => {
    const span = otlp({});
    const { metadata } = normaliseSpan({ ...span, attributes: new Map([['__proto__', { polluted: true }]]) }, 7);
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
    expect(Object.keys(metadata)).toEqual(['__proto__']);
  });
});

describe('numbered attributes', () => {
  it('with impossible indices or forbidden parts are dropped, the others read', () => {
    const { input } = read({
      'openinference.span.kind': 'LLM',
      'llm.input_messages.10.message.content': 'last',
      'llm.input_messages.0.message.content': 'a',
      'llm.input_messages.1.message.content': 'b',
      'llm.input_messages.999999999.message.content': 'c',
      'llm.input_messages.-1.message.content': 'd',
      'llm.input_messages.1e9.message.content': 'e',
      'llm.input_messages.__proto__.message.content': 'f',
      'llm.input_messages.2.constructor.prototype.content': 'g',
    });
    expect(input).toEqual(said(user('a'), user('b'), user('last')));
    expect(({} as Record<string, unknown>)['message']).toBeUndefined();
  });
});

describe('times', () => {
  it('are microseconds, rounded down', () =>
    expect(read({})).toMatchObject({ started_at: 1_769_000_000_123_456, ended_at: 1_769_000_001_000_000 }));
  it('may lack an end', () => expect(read({}, { end: null })).toMatchObject({ ended_at: null, metadata: {} }));
  it('may lack a start: the end stands', () =>
    expect(read({}, { start: null })).toMatchObject({ started_at: 1_769_000_001_000_000 }));
  const DAY = 86_400_000_000;
  const AHEAD = 'was more than a day ahead: the time of receipt stands';
  it.each<[string, number | null, number | null, [number, number | null], string[]]>([
    ['in order', 100, 200, [100, 200], []],
    ['up to a day ahead', DAY, DAY, [DAY, DAY], []],
    ['further ahead', DAY + 8, DAY + 9, [7, 7], [`the end ${AHEAD}`, `the start ${AHEAD}`]],
    ['of which only the start is ahead', DAY + 8, 100, [7, 100], [`the start ${AHEAD}`]],
    ['whose end is before the start', 200, 100, [200, 200], ['the end was before the start: taken as the start']],
    ['without an end', 200, null, [200, null], []],
  ])('%s', (_what, start, end, times, notes) => {
    const nanos = (at: number | null): bigint | null => (at === null ? null : BigInt(at) * 1000n);
    const span = normaliseSpan(otlp({}, { start: nanos(start), end: nanos(end) }), 7, DAY + 7);
    expect([[span.started_at, span.ended_at], span.metadata.notes ?? []]).toEqual([times, notes]);
  });

  it('that are missing are the time of receipt, and say so', () => {
    expect(read({}, { start: null, end: null })).toMatchObject({
      started_at: 7,
      ended_at: null,
      metadata: { notes: [expect.stringContaining('time of receipt')] },
    });
  });
});

describe('an error', () => {
  const failed = { code: 'ERROR', message: 'it broke' } as const;
  const exception = (more: Record<string, unknown> = {}): OtlpSpan['events'][number] =>
    event('exception', { 'exception.type': 'E', 'exception.message': 'no', ...more });
  it.each<[string, Partial<OtlpSpan>, unknown]>([
    [
      'of the exception that came last',
      { status: failed, events: [event('exception', { 'exception.message': 'first' }), exception()] },
      { type: 'E', message: 'no' },
    ],
    ['of the status', { status: failed }, { message: 'it broke' }],
    ['of an exception without a status', { events: [exception()] }, { type: 'E', message: 'no' }],
    ['of none that was handled', { status: { code: 'OK', message: '' }, events: [exception()] }, undefined],
    ['of none that did not leave the span', { events: [exception({ 'exception.escaped': 'False' })] }, undefined],
    ['of none without words', { status: { code: 'ERROR', message: '' } }, undefined],
  ])('is told %s', (_rule, more, error) => {
    const span = read({}, more);
    expect(span.error).toEqual(error);
    expect(span.status).toBe(more.status?.code ?? 'UNSET');
  });
});

it('says how many numbered keys were left out', () => {
  const key = (index: number): string => `llm.input_messages.${index}.message.content`;
  const { metadata } = read({ 'openinference.span.kind': 'LLM', [key(0)]: 'hi', [key(4_097)]: 'x', [key(9_999)]: 'x' });
  expect(metadata.notes).toEqual([expect.stringMatching(/^2 keys under llm\.input_messages\. were left out/)]);
});

describe('a session', () => {
  it.each([
    'session.id',
    'gen_ai.conversation.id',
    'langfuse.session.id',
    'ai.telemetry.metadata.sessionId',
    'traceloop.association.properties.session_id',
    'langsmith.metadata.session_id',
    'langsmith.metadata.thread_id',
    'thread_id',
  ])('is named by %s', (key) => expect(read({ [key]: 's' }).session).toEqual({ id: 's', explicit: false }));

  it('is named by metadata in JSON', () => {
    expect(read({ metadata: '{"thread_id":"s-16"}' })).toMatchObject({
      session: { id: 's-16' },
      metadata: { metadata: '{"thread_id":"s-16"}' },
    });
  });
  it('is explicit under the name meant for us, on the span or its resource', () => {
    expect(read({ 'session.id': 'x', 'fleetmend.session.id': 's' }).session).toEqual({ id: 's', explicit: true });
    expect(read({ 'session.id': 'x' }, { resource: attributesOf({ 'fleetmend.session.id': 's' }) }).session).toEqual({
      id: 's',
      explicit: true,
    });
  });
  it('may be a number, and is none when empty or endless', () => {
    expect(read({ 'session.id': 42 }).session?.id).toBe('42');
    const long = read({ 'fleetmend.session.id': 'x'.repeat(256), 'session.id': 's' });
    expect([long.session?.id, long.metadata.notes]).toEqual(['s', ['a session id of more than 255 characters was left out']]);
    for (const id of ['', 'x'.repeat(256), null, true]) expect(read({ 'session.id': id }).session).toBeNull();
  });
});

describe('any span', () => {
  const KEYS = [
    'input.value',
    'output.value',
    'gen_ai.prompt',
    'gen_ai.completion',
    'gen_ai.input.messages',
    'gen_ai.output.messages',
    'metadata',
    'session.id',
  ];
  const MORE_KEYS = [
    'openinference.span.kind',
    'gen_ai.operation.name',
    'langfuse.observation.input',
    'ai.operationId',
    'mlflow.spanType',
    'logfire.json_schema',
  ];
  const KINDS = [
    'llm.input_messages.0.message.content',
    'gen_ai.prompt.0.role',
    'llm.tools.0.tool.json_schema',
    'traceloop.entity.input',
    'langsmith.span.kind',
  ];
  const value = fc.oneof(
    fc.jsonValue(),
    fc.json(),
    fc.constantFrom('LLM', 'llm', 'chat', 'TOOL', 'tool', 'ai.toolCall', '[{"role":"user","content":[{}]}]'),
  );
  const attributes = fc.dictionary(fc.oneof(fc.constantFrom(...KEYS, ...MORE_KEYS, ...KINDS), fc.string()), value);

  it('is normalised to the contract without a throw, and loses no unknown attribute', () => {
    fc.assert(
      fc.property(attributes, fc.array(attributes, { maxLength: 3 }), (own, events) => {
        const unknown = { 'acme.unknown.thing': 'kept' };
        const names = ['exception', 'gen_ai.user.message', 'gen_ai.choice', 'gen_ai.client.inference.operation.details'];
        const span = read({ ...own, ...unknown }, { events: events.map((one, n) => event(names[n % names.length]!, one)) });
        expect(receivedSpan.safeParse(span).error).toBeUndefined();
        expect(span.metadata).toMatchObject(unknown);
      }),
      { numRuns: 300 },
    );
  });

  it('is read the same a second time: nothing is remembered', () => {
    fc.assert(fc.property(attributes, (own) => expect(read(own)).toEqual(read(own))));
  });

  it('is read from bytes as from an object', () => {
    const body = {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                {
                  traceId: 'a'.repeat(32),
                  spanId: 'b'.repeat(16),
                  name: 'span',
                  attributes: [{ key: 'session.id', value: { stringValue: 's' } }],
                },
              ],
            },
          ],
        },
      ],
    };
    const [decoded] = decodeTraces(Buffer.from(JSON.stringify(body)), 'json').spans;
    expect(normaliseSpan(decoded!, 7)).toMatchObject({ session: { id: 's', explicit: false }, started_at: 7, dialect: 'plain' });
  });
});
