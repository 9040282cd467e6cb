import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Trace, Turn } from '#contracts';
import { answerText, requestText, toolCalls } from '#domain/checks';
import { normaliseTurn, parseJson } from '#ingest';
import { SHARED, sharedIsThere } from '../../../../test/support/root.js';
import type { Found } from './found.js';
import { readRecordings } from './read-recordings.js';
import { TraceDump } from './trace-dump.js';

interface Imported {
  readonly turns: readonly Turn[];
  readonly rejected: readonly string[];
}

/** The files as one import would read them. */
async function importOf(files: readonly string[], tools?: readonly unknown[]): Promise<Imported> {
  const dump = new TraceDump();
  const found: Found[] = [];
  for (const file of files) for await (const read of readRecordings(file, { tools }, dump)) found.push(read);
  found.push(...dump.turns(tools));
  const turns = found.flatMap((one) => (one.kind === 'turn' ? [turnOf(one.data)] : []));
  return { turns, rejected: found.flatMap((one) => (one.kind === 'rejected' ? [one.reason] : [])) };
}

/** As the gateway takes it. */
function turnOf(data: Buffer): Turn {
  const result = normaliseTurn(parseJson(data).value);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.turn;
}

const tracesOf = (turns: readonly Turn[]): Trace[] => turns.flatMap(({ traces }) => traces ?? []);
const sessionsOf = (turns: readonly Turn[]): string[] => [...new Set(turns.map(({ session_id: id }) => id))];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fleetmend-dump-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, content);
  return path;
}

const TRACE = 'a'.repeat(32);
const attribute = (key: string, value: string): object => ({ key, value: { stringValue: value } });

function span(id: number, attributes: readonly object[], more: object = {}): object {
  const at = 1_764_500_000_000_000_000n + BigInt(id) * 1_000_000n;
  return {
    traceId: TRACE,
    spanId: String(id).padStart(16, '0'),
    name: `span ${id}`,
    startTimeUnixNano: String(at),
    endTimeUnixNano: String(at + 500_000n),
    attributes,
    ...more,
  };
}

const body = (...spans: object[]): object => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
const root = span(1, [attribute('session.id', 's1'), attribute('gen_ai.operation.name', 'invoke_agent')]);
const child = span(2, [attribute('gen_ai.operation.name', 'execute_tool'), attribute('gen_ai.tool.name', 'search')], {
  parentSpanId: '1'.padStart(16, '0'),
});

describe('dumps of traces', () => {
  it('a request of more members than can be worked on is rejected, and says so', () => {
    const bytes = Buffer.from(`{"resourceSpans":[${'0,'.repeat(4_000_001)}0]}`);
    expect(new TraceDump().addOtlp(bytes, 'json', { file: 'a', line: null })).toMatchObject([
      { kind: 'rejected', reason: expect.stringContaining('millions') },
    ]);
  });

  it('the spans of a trace may lie in several files, in any order, and come twice', async () => {
    const files = [
      await file('b.json', JSON.stringify(body(child))),
      await file('a.json', JSON.stringify(body(root, child), null, 2)),
    ];
    const { turns, rejected } = await importOf(files);
    expect(rejected).toEqual([]);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ session_id: 's1', turn_index: 0, traces: [{ trace_id: TRACE }] });
    expect(tracesOf(turns)[0]?.spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['span 1', 'AGENT'],
      ['search', 'TOOL'],
    ]);
  });

  it('OTLP may be one body, a list of bodies, or a body a line', async () => {
    const bodies = [body(root), body(child)];
    const forms = [
      await file('list.json', JSON.stringify(bodies)),
      await file('lines.jsonl', bodies.map((one) => JSON.stringify(one)).join('\n')),
      await file('lines.txt', bodies.map((one) => JSON.stringify(one)).join('\n')),
    ];
    const whole = await importOf([await file('one.json', JSON.stringify(body(root, child)))]);
    for (const form of forms) expect(await importOf([form])).toEqual(whole);
  });

  it('a broken span costs itself only, and says why', async () => {
    const { turns, rejected } = await importOf([await file('broken.json', JSON.stringify(body(root, { traceId: 42 }, child)))]);
    expect(tracesOf(turns)[0]?.spans).toHaveLength(2);
    expect(rejected).toEqual([expect.stringMatching(/^1 of its spans: traceId/)]);
  });

  it('a trace without a session is a conversation of its own; a single span without one is left out and says why', async () => {
    const call = span(1, [attribute('gen_ai.operation.name', 'chat')]);
    const step = span(2, [], { parentSpanId: '1'.padStart(16, '0') });
    const lone = { ...span(3, [attribute('gen_ai.operation.name', 'chat')]), traceId: 'b'.repeat(32) };
    const { turns, rejected } = await importOf([await file('none.json', JSON.stringify(body(call, step, lone)))]);
    expect(turns.map(({ session_id: id, metadata }) => [id, metadata])).toEqual([
      [TRACE, { session: 'no session was recorded: the trace stands alone' }],
    ]);
    expect(rejected).toEqual([expect.stringContaining(`trace ${'b'.repeat(32)}: no session`)]);
  });

  it('takes a catalogue for turns that have none', async () => {
    const { turns } = await importOf([await file('tools.json', JSON.stringify(body(root, child)))], [{ name: 'search' }]);
    expect(turns[0]?.tools).toEqual([{ name: 'search' }]);
  });

  it('the items of OpenAI Agents may come one a line, what a trace says after its spans', async () => {
    const item = { object: 'trace.span', id: 'span_1', trace_id: 'trace_1', parent_id: null, started_at: '2026-11-30T10:00:00Z' };
    const lines = [
      { ...item, ended_at: '2026-11-30T10:00:01Z', span_data: { type: 'agent', name: 'Desk', tools: ['search'] } },
      { object: 'trace', id: 'trace_1', workflow_name: 'desk', group_id: 'g1' },
    ];
    const { turns, rejected } = await importOf([await file('agents.jsonl', lines.map((one) => JSON.stringify(one)).join('\n'))]);
    expect(rejected).toEqual([]);
    expect(turns[0]).toMatchObject({ session_id: 'g1', agent: { id: 'Desk' }, tools: [{ name: 'search' }] });
  });

  it('logs of OTLP are no traces, and binary that is no protobuf is neither', async () => {
    const { rejected } = await importOf([
      await file('logs.json', '{"resourceLogs":[]}'),
      await file('nothing.bin', Uint8Array.of(0xff, 0, 1, 2, 0xff)),
    ]);
    expect(rejected).toEqual(['logs or metrics of OTLP: only traces are read', expect.any(String)]);
  });

  it('one file alone gives its turns at its end', async () => {
    const found: string[] = [];
    for await (const read of readRecordings(await file('alone.json', JSON.stringify(body(root, child))), {}))
      found.push(read.kind);
    expect(found).toEqual(['turn']);
  });
});

interface Export {
  readonly name: string;
  readonly session: RegExp;
  readonly spans: number;
  readonly models: number;
  readonly calls: readonly string[];
  /** How the texts begin. */
  readonly asked: string;
  readonly answered: string;
}

const shared = sharedIsThere('the import of recorded traces') ? describe : describe.skip;

shared('recorded traces', () => {
  /**
   * What each export of a framework holds. Calls: of tools. Models: calls of models, each counted once (agno's two instrumentations saw
   * the same two). `final_result` of Pydantic AI is how a structured answer is given, and was executed by nobody.
   */
  const exports: readonly Export[] = [
    {
      ...{ name: 'agno-2025-06-11', session: /^35cc6c90/, spans: 6, models: 2, calls: ['duckduckgo_search'] },
      ...{ asked: 'What is currently trending on Twitter?', answered: 'To find out what' },
    },
    {
      ...{ name: 'autogen-2025-06-06', session: /^session_abc$/, spans: 2, models: 1, calls: [] },
      ...{ asked: "Say 'Hello World!'", answered: 'Hello World!' },
    },
    {
      ...{ name: 'google-adk-2025-08-28', session: /^demo-session$/, spans: 5, models: 2, calls: ['say_hello'] },
      ...{ asked: 'hi', answered: 'Hello Langfuse' },
    },
    {
      ...{ name: 'langgraph-2025-08-22', session: /^demo-thread-1$/, spans: 9, models: 2, calls: ['Web-Search'] },
      ...{ asked: "Search the web for 'example' and summarize.", answered: 'The search for "example"' },
    },
    {
      ...{ name: 'llamaindex-2025-06-05', session: /^session_abc$/, spans: 2, models: 1, calls: [] },
      ...{ asked: 'What is Langfuse?', answered: 'Langfuse is a tool' },
    },
    {
      ...{ name: 'openai-agents-2025-09-30', session: /^fee618f9/, spans: 5, models: 2, calls: ['get_weather'] },
      ...{ asked: "What's the weather in Tokyo?", answered: 'The weather in Tokyo is' },
    },
    {
      ...{ name: 'pydantic-ai-tools-2025-12-04', session: /^7a38edd8/, spans: 12, models: 4 },
      calls: ['get_dad_joke_suggestion', 'get_one_liner_suggestion', 'get_pun_suggestion'],
      ...{ asked: 'Select and call THREE of the available tools', answered: 'Why do programmers hate nature?' },
    },
  ];

  it.each(exports)('$name', async ({ name, session, spans, models, calls, asked, answered }) => {
    const { turns, rejected } = await importOf([join(SHARED, 'framework-traces', `${name}.json`)]);
    expect(rejected).toEqual([]);
    expect(turns.map(({ session_id: id }) => id)).toEqual([expect.stringMatching(session)]);
    const [trace] = tracesOf(turns);
    if (trace === undefined) throw new Error('no trace');
    expect(trace.spans).toHaveLength(spans);
    expect(trace.spans.filter(({ kind }) => kind === 'LLM')).toHaveLength(models);
    const made = toolCalls(trace);
    expect(made.map(({ tool }) => tool).sort()).toEqual(calls);
    for (const call of made) expect([call.failed, call.outcomeKnown, typeof call.input]).toEqual([false, true, 'object']);
    expect([requestText(trace).slice(0, asked.length), answerText(trace).slice(0, answered.length)]).toEqual([asked, answered]);
  });

  /** The same six conversations by three ways to write them down: turns, calls of models and of tools, sessions. */
  it.each([
    ['openai-agents-native', 49],
    ['langsmith-otel', 45],
    ['vercel-ai', 49],
  ])('%s: 26 turns of six sessions with 23 calls of tools', async (name, models) => {
    const folder = join(SHARED, 'otlp', 'replayed', name);
    const files = (await readdir(folder, { recursive: true }))
      .filter((path) => /\.(json|pb)$/.test(path))
      .map((path) => join(folder, path));
    const { turns, rejected } = await importOf(files);
    const traces = tracesOf(turns);
    expect({
      rejected,
      turns: turns.length,
      sessions: sessionsOf(turns).length,
      models: traces.flatMap(({ spans }) => spans).filter(({ kind }) => kind === 'LLM').length,
      calls: traces.flatMap(toolCalls).length,
      asked: traces.filter((trace) => requestText(trace) !== '').length,
    }).toEqual({ rejected: [], turns: 26, sessions: 6, models, calls: 23, asked: 26 });
  });

  it('a library that gives every span a trace and no session: calls of models are joined by their messages, the rest is left out', async () => {
    const folder = join(SHARED, 'otlp', 'replayed', 'traceloop-langchain');
    const files = (await readdir(folder, { recursive: true }))
      .filter((path) => path.endsWith('.json'))
      .map((path) => join(folder, path));
    const { turns, rejected } = await importOf(files);
    expect(turns).toHaveLength(26);
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.filter((reason) => !reason.includes('no session: the trace is a single span'))).toEqual([]);
    expect(sessionsOf(turns)).toHaveLength(6);
  });
});
