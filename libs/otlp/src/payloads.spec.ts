import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ReceivedSpan } from '#contracts';
import { decodeTraces, normaliseSpan } from './index.js';

const OTLP = '../shared/data/otlp';
const FIXTURES = `${OTLP}/langfuse-test-fixtures`;
const present = existsSync(OTLP) || process.env['CI'] === 'true';
if (!present) console.info('Skipped: the payloads of other libraries in ../shared/data are absent.');
const withData = present ? describe : describe.skip;

const filesIn = (folder: string): string[] =>
  present ? (readdirSync(folder, { recursive: true }) as string[]).filter((file) => file.endsWith('.json')).sort() : [];

interface Read {
  readonly spans: readonly ReceivedSpan[];
  /** Reason and number. */
  readonly rejected: Readonly<Record<string, number>>;
}

function read(body: unknown): Read {
  const decoded = decodeTraces(Buffer.from(JSON.stringify(body)), 'json');
  const spans = [...decoded.spans].map((span) => normaliseSpan(span, 0));
  return { spans, rejected: Object.fromEntries(decoded.rejected) };
}

interface Body {
  readonly resourceSpans: readonly {
    readonly scopeSpans?: object | readonly ({ readonly spans?: readonly Record<string, unknown>[] } | null)[];
  }[];
}

const fixture = (file: string): Body => JSON.parse(readFileSync(`${FIXTURES}/${file}`, 'utf8')) as Body;
const fixtureOf = (prefix: string): Body => fixture(filesIn(FIXTURES).find((file) => file.startsWith(prefix)) ?? prefix);

/** How many things stand where spans stand. */
function entriesIn({ resourceSpans }: Body): number {
  const scopes = resourceSpans.flatMap(({ scopeSpans }) => (scopeSpans instanceof Array ? scopeSpans : []));
  return scopes.flatMap((scope) => scope?.spans ?? []).length;
}

const NO_ID = 'traceId is not 16 bytes';
/** What a person reading them would not call spans, with what is counted. Of all others every span is good. */
const malformed: readonly (readonly [prefix: string, rejected: Record<string, number>, why: string])[] = [
  ['05642', { [NO_ID]: 4 }, 'spans are {}'],
  ['05648', { [NO_ID]: 2 }, 'spans are {}'],
  ['05681', { [NO_ID]: 2 }, 'two spans are {}, beside scopes without any: those are empty, not wrong'],
  ['05710', { 'an item of "scopeSpans" is not an object': 2 }, 'two scopes are null, the third is empty'],
  ['05711', { [NO_ID]: 2 }, 'spans are {}'],
  ['extra-otel-api/00676', { [NO_ID]: 2 }, 'a span without ids, and one whose ids are the number 42'],
  ['extra-otel-api/00689', { '"scopeSpans" is not a list': 1 }, 'scopeSpans is {}'],
  ['extra-otelConversionFailureLogging/00053', { [NO_ID]: 1 }, 'a span without its trace id belongs to none'],
  ['extra-otelDirectEventWrite/00126', { '"scopeSpans" is not a list': 1 }, 'scopeSpans is {}'],
  ['extra-otelDirectEventWrite/00143', { '"scopeSpans" is not a list': 1 }, 'scopeSpans is {}'],
  // The test wrote what a decoder in memory holds: no exporter sends it.
  ...['07043', '07166', '07213', '07278', '07338', '07380', '07428', '07475', '07555', '07594'].map(
    (prefix) => [prefix, { [NO_ID]: 1 }, 'ids are objects { data: [bytes] }'] as const,
  ),
];

/** The same body with such ids as OTLP writes them, so that what else it says can be read. */
function withHexIds(body: Body): unknown {
  return JSON.parse(JSON.stringify(body), (_key, value: unknown) => {
    const data = (value as { data?: unknown } | null)?.data;
    return Array.isArray(data) ? Buffer.from(data as number[]).toString('hex') : value;
  });
}

const user = (content: string): object => ({ role: 'user', content });
const system = (content: string): object => ({ role: 'system', content });
const said = (content: unknown): object => ({ messages: [{ role: 'assistant', content }] });

/** One good example of each library: what must be found in its span. */
const samples: readonly (readonly [prefix: string, library: string, expected: object])[] = [
  [
    '00095',
    'Langfuse',
    {
      kind: 'LLM',
      model: 'gpt-4o',
      input: { messages: [user('hello')] },
      output: said("what's up?"),
      session: { id: 'my-session' },
    },
  ],
  [
    '00563',
    'OpenLIT',
    {
      kind: 'LLM',
      model: 'gpt-3.5-turbo',
      input: { messages: [user('What is LLM Observability?')] },
      output: said(expect.stringMatching(/^LLM Observability stands/)),
    },
  ],
  [
    '00751',
    'OpenLLMetry',
    {
      kind: 'LLM',
      input: { messages: [user('What is LLM Observability?')] },
      output: said(expect.stringMatching(/^LLM Observability/)),
      token_usage: { input_tokens: 14, output_tokens: 173 },
    },
  ],
  [
    '00869',
    'Semantic Kernel',
    {
      kind: 'LLM',
      input: { messages: [system('You are a helpful assistant.'), user('What is the capital of France?')] },
      output: said('The capital of France is Paris.'),
    },
  ],
  ['01013', 'AI SDK', { kind: 'EMBEDDING', model: 'gemini-embedding-001' }],
  [
    '01137',
    'Genkit',
    {
      kind: 'LLM',
      model: 'openai/gpt-5-mini',
      input: { messages: [user('Output should be in JSON format.')] },
      output: said('{"confidence_level":0.95}'),
    },
  ],
  [
    '01737',
    'Pydantic AI, tool',
    {
      kind: 'TOOL',
      name: 'roulette_wheel',
      input: '{"square": 18}',
      output: 'winner',
      metadata: { tool_call_id: 'call_idvalue' },
    },
  ],
  [
    '02095',
    'Pydantic AI, agent',
    { kind: 'AGENT', agent: { id: 'roulette_agent' }, output: expect.stringMatching(/^Congratulations/) },
  ],
  [
    '02555',
    'Pydantic AI, instructions',
    { input: { messages: [system('You are a helpful assistant. Answer questions concisely and clearly.'), { role: 'user' }] } },
  ],
  [
    '02707',
    'Pydantic AI, a system message of its own',
    { input: { messages: [system('Existing system prompt.'), user('Hello')] } },
  ],
  ['02782', 'OpenInference over the conventions', { kind: 'TOOL' }],
  ['02826', 'the conventions over the model', { kind: 'EMBEDDING' }],
  [
    '04695',
    'OpenInference',
    {
      input: { messages: [{ role: 'system' }, user('What is the weather today?')] },
      output: said("I don't have access to real-time weather data."),
    },
  ],
  ['04841', 'numbered attributes with an index of 10001', { input: { messages: [{ content: 'valid message' }] } }],
  [
    '04985',
    'OpenTelemetry, content in an event',
    { kind: 'LLM', input: { messages: [user('What is the capital of France?')] }, output: said('Paris') },
  ],
  [
    '05133',
    'OpenTelemetry, tools',
    { input: { messages: [user('What is 2 + 2?')] }, tools: [{ name: 'calculator', description: 'Do math' }] },
  ],
  [
    '05357',
    'AI SDK 7',
    { kind: 'LLM', model: 'test-model', input: { messages: [system('Answer concisely.'), user('hello')] }, output: said('hi') },
  ],
  [
    '05917',
    'AI SDK 4',
    {
      kind: 'AGENT',
      model: 'gpt-4.1-mini',
      input: { messages: [user('hi')] },
      output: said('hello'),
      session: { id: 'session-1' },
    },
  ],
  ['06333', "Langfuse, session in the trace's metadata", { session: { id: 'session-456' } }],
  ['06895', 'Langfuse, two sessions', { session: { id: 'langfuse-session-123' } }],
  ['07278', 'AI SDK, tool', { kind: 'TOOL', name: 'myTool', metadata: { tool_call_id: 'call_abc123' } }],
  ['07338', 'AI SDK, tool by its operation alone', { kind: 'TOOL' }],
  ['07475', 'Langfuse 3.3, a span with a model', { kind: 'LLM', model: 'gpt-4o' }],
  ['07860', 'Google ADK, usage', { token_usage: { input_tokens: 100, output_tokens: 60, reasoning_output_tokens: 25 } }],
  [
    '08084',
    'LiteLLM, usage',
    { token_usage: { input_tokens: 100, cache_read_input_tokens: 20, cache_creation_input_tokens: 10 } },
  ],
  [
    '09134',
    'AI SDK, no operation',
    { kind: 'LLM', input: { messages: [user('test')] }, output: said('AI response text'), metadata: { request_id: 'req-123' } },
  ],
  [
    '09338',
    'Google ADK, tool',
    { kind: 'TOOL', name: 'bake_cake', input: { query: 'much duplo' }, output: { result: 'particularly juicy cake' } },
  ],
  ['09619', 'a key __proto__', { input: { messages: [user('hello')] } }],
];

withData('payloads of the tests of Langfuse', () => {
  it('each decodes and is read without an exception; what is malformed is counted with a reason, and costs nothing else', () => {
    const wrong: unknown[] = [];
    for (const file of filesIn(FIXTURES)) {
      const body = fixture(file);
      const expected = malformed.find(([prefix]) => file.startsWith(prefix))?.[1] ?? {};
      const lost = Object.values(expected).reduce((sum, count) => sum + count, 0);
      const found = read(body);
      const isGood =
        JSON.stringify(found.rejected) === JSON.stringify(expected) && found.spans.length === Math.max(0, entriesIn(body) - lost);
      if (!isGood) wrong.push({ file, expected, ...found });
    }
    expect(filesIn(FIXTURES).length).toBeGreaterThan(80);
    expect(wrong).toEqual([]);
  });

  it('a good span beside every malformed thing stays', () => {
    const good = fixtureOf('00751').resourceSpans;
    for (const [prefix, rejected] of malformed) {
      const found = read({ resourceSpans: [...fixtureOf(prefix).resourceSpans, ...good] });
      expect([prefix, found.rejected, found.spans.length]).toEqual([prefix, rejected, 1]);
    }
  });

  it.each(samples)('%s, %s', (prefix, _library, expected) => {
    expect(read(withHexIds(fixtureOf(prefix))).spans[0]).toMatchObject(expected);
  });

  it('no key of a payload reaches a prototype', () => {
    read(fixtureOf('09619'));
    expect(({} as Record<string, unknown>)['POLLUTED']).toBeUndefined();
  });
});
