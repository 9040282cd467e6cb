import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { answer, answerJson, json, status } from '#testing';
import { readShared, sharedIsThere } from '../../../test/support/root.js';
import { scriptedEndpoint } from '../fixtures/endpoint.js';
import { ModelError, type ModelErrorKind } from './model-error.js';
import type { ToolArguments } from './requests.js';
import { unitScore } from './unit-score.js';

interface Input {
  readonly name: string;
  readonly body?: unknown;
  readonly bodyText?: string;
}

interface HttpCase {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

function inputs(file: string): ReadonlyMap<string, Input> {
  const { inputs: all } = JSON.parse(readShared(`cases/${file}`)) as { inputs: Input[] };
  return new Map(all.map((input) => [input.name, input]));
}

function input(file: string, name: string): Input {
  const found = inputs(file).get(name);
  if (found === undefined) throw new Error(`${file} has no input ${name}`);
  return found;
}

const responses = (file: string) => input(file, 'responses').body as readonly HttpCase[];
const replyOf = ({ status: code, headers, body }: HttpCase) => status(code, body, headers);

const tools = [{ name: 'read_rule', parameters: { type: 'object', properties: { scope: { type: 'string' } } } }];
const CHAT = { model: 'judge', messages: [{ role: 'user', content: 'Go on.' }], tools, maxOutputTokens: 100 } as const;
const ASK = { model: 'judge', system: 'You judge.', user: 'A trace.', name: 'verdict', maxOutputTokens: 100 } as const;

const there = sharedIsThere('cases 25, 28, 30, 31, 34, 35');

(there ? describe : describe.skip)('case 25, tool arguments with trailing bytes', () => {
  const file = '25-tool-args-trailing-bytes.json';
  const ok = (value: Record<string, unknown>): ToolArguments => ({ ok: true, value });
  const error: unknown = { ok: false, error: expect.any(String) };

  it.each<[string, unknown]>([
    ['empty-schema', ok({})],
    ['trailing', ok({ scope: 'global' })],
    ['two-objects', error],
    ['empty-string', ok({})],
    ['null', ok({})],
    ['object-not-string', ok({ scope: 'a' })],
    ['array', error],
    ['double-encoded', ok({ scope: 'a' })],
  ])('%s: what goes back into the history is valid JSON, and usage is counted', async (name, expected) => {
    await using scripted = await scriptedEndpoint([json(input(file, name).body), answer('Done.')]);
    const { toolCalls, message, usage } = await scripted.endpoint.chat(CHAT);
    expect(toolCalls.map((call) => call.arguments)).toEqual([expected]);
    expect(usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
    const result = { role: 'tool', toolCallId: toolCalls[0]?.id ?? '', content: 'result' } as const;
    await scripted.endpoint.chat({ ...CHAT, messages: [...CHAT.messages, message, result] });
    const history = scripted.server.requests[1]?.body['messages'] as { tool_calls?: { function: { arguments: string } }[] }[];
    const written = history[1]?.tool_calls?.[0]?.function.arguments ?? '';
    expect(JSON.parse(written)).toEqual(toolCalls[0]?.arguments.ok === true ? toolCalls[0].arguments.value : {});
  });

  it.each(['{"scope":', '{"scope":"a"} and more', "{'scope': 'a'}", 'global', '5'])(
    'an argument text like %s is an error too, and quoted to the model',
    async (text) => {
      await using scripted = await scriptedEndpoint([answer(null, { toolCalls: [{ name: 'read_rule', arguments: text }] })]);
      const { toolCalls } = await scripted.endpoint.chat(CHAT);
      expect(toolCalls[0]?.arguments).toEqual({ ok: false, error: expect.stringContaining(text) });
    },
  );

  it('gives calls without an id, and with one that is there twice, ids of their own', async () => {
    const calls = ['', 'a', 'a'].map((id) => ({ id, name: 'read_rule', arguments: {} }));
    await using scripted = await scriptedEndpoint([answer(null, { toolCalls: calls })]);
    const { toolCalls } = await scripted.endpoint.chat(CHAT);
    expect(new Set(toolCalls.map((call) => call.id)).size).toBe(3);
  });
});

(there ? describe : describe.skip)('case 28, a finish reason that lies', () => {
  it.each([
    ['stop-with-calls', 'tool_calls', 'stop'],
    ['tool_calls-with-text-only', 'text', 'tool_calls'],
    ['tool_calls-with-nothing', 'empty', 'tool_calls'],
    ['null-finish', 'text', null],
    ['unknown-finish', 'text', 'content_filter'],
  ])('%s is told by what is there', async (name, kind, finish) => {
    await using scripted = await scriptedEndpoint([json(input('28-finish-reason-lies.json', name).body)]);
    expect(await scripted.endpoint.chat(CHAT)).toMatchObject({ kind, finish });
  });
});

(there ? describe : describe.skip)('case 30, hints at a rate limit', () => {
  const all = there ? responses('30-rate-limit-hints.json') : [];
  const BACKOFF = 500;

  // The clock stands ten seconds before the date in the second response.
  it.each<[number, number]>([
    [0, 7000],
    [1, 10_000],
    [2, 350],
    [4, BACKOFF],
    [5, BACKOFF],
    [6, 94],
    [7, 31_000],
    [9, 2000],
  ])('response %s is waited for, and the call succeeds', async (index, waited) => {
    await using scripted = await scriptedEndpoint([replyOf(all[index] as HttpCase), answer('Hi')]);
    expect((await scripted.endpoint.chat(CHAT)).text).toBe('Hi');
    expect(scripted.clock.slept).toEqual([waited]);
    expect(scripted.server.requests).toHaveLength(2);
  });

  it.each<[number, ModelErrorKind, number | undefined]>([
    [3, 'rate_limit', 86_400_000],
    [8, 'billing', undefined],
    [10, 'config', undefined],
  ])('response %s is not waited for: %s', async (index, kind, retryAfterMs) => {
    await using scripted = await scriptedEndpoint([replyOf(all[index] as HttpCase), answer('Hi')]);
    const call = scripted.endpoint.chat(CHAT);
    await expect(call).rejects.toBeInstanceOf(ModelError);
    await expect(call).rejects.toMatchObject({ kind, retryAfterMs });
    expect(scripted.clock.slept).toEqual([]);
    expect(scripted.server.requests).toHaveLength(1);
  });

  it('is whole: every response is tried', () => {
    expect(all).toHaveLength(11);
  });
});

(there ? describe : describe.skip)('case 31, a parameter that is refused', () => {
  const all = there ? responses('31-reasoning-effort-rejected.json') : [];

  it.each([
    [0, 'reasoning_effort', ['reasoning_effort not accepted']],
    [1, 'reasoning_effort', ['reasoning_effort not accepted']],
    [2, 'max_tokens', []],
    [3, 'temperature', ['temperature not accepted']],
    [4, 'response_format', ['json_schema not accepted']],
  ])('response %s leads to one request without %s, which is remembered', async (index, name, notes) => {
    await using scripted = await scriptedEndpoint([replyOf(all[index] as HttpCase), answerJson({ a: 1 }), answerJson({ a: 1 })]);
    const schema = z.object({ a: z.number() });
    const ask = { ...ASK, schema, temperature: 0, reasoningEffort: 'max' };
    const { usage } = await scripted.endpoint.structured(ask);
    expect(usage).toMatchObject({ calls: 2, notes });
    expect((await scripted.endpoint.structured(ask)).usage).toMatchObject({ calls: 1, notes });
    const [before, after, later] = scripted.server.requests.map((request) => JSON.stringify(request.body[name]));
    expect(before).toBeDefined();
    expect(after).not.toBe(before);
    expect(later).toBe(after);
  });

  it('response 5 names nothing to leave out', async () => {
    await using scripted = await scriptedEndpoint([replyOf(all[5] as HttpCase)]);
    await expect(scripted.endpoint.chat({ ...CHAT, reasoningEffort: 'max' })).rejects.toMatchObject({
      kind: 'config',
      usage: { calls: 1 },
    });
  });

  it('is whole: every response is tried', () => {
    expect(all).toHaveLength(6);
  });
});

(there ? describe : describe.skip)('case 34, shapes of a score', () => {
  const file = '34-judge-score-shapes.json';
  const schema = z.object({ score: unitScore });
  const verdicts = there ? (input(file, 'verdicts').body as readonly unknown[]) : [];
  const texts = there
    ? [
        ...verdicts.map((value) => JSON.stringify(value)),
        ...['raw-nan', 'prose', 'refusal'].map((name) => input(file, name).bodyText ?? ''),
      ]
    : [];
  const accepted = new Map([
    ['{"score":0.8}', 0.8],
    ['{"score":"0.8"}', 0.8],
    // Inside the range; kept as 0, for -0 is nobody's intent.
    ['{"score":"-0.0"}', 0],
  ]);

  it.each(texts)('%s', async (text) => {
    await using scripted = await scriptedEndpoint([answer(text), answer(text)]);
    const call = scripted.endpoint.structured({ ...ASK, schema });
    const score = accepted.get(text);
    if (score === undefined) await expect(call).rejects.toMatchObject({ kind: 'invalid_output', usage: { calls: 2 } });
    else expect((await call).value.score).toBe(score);
  });

  it('is whole: 17 verdicts and 3 texts', () => {
    expect(texts).toHaveLength(20);
    expect([...accepted.keys()].every((text) => texts.includes(text))).toBe(true);
  });
});

(there ? describe : describe.skip)('case 35, JSON in fences', () => {
  const all = there ? inputs('35-judge-json-fences.json') : new Map<string, Input>();
  const schema = z.object({ score: unitScore, reason: z.string() });

  it.each(['1-bare', '2-fenced', '3-prose-before', '4-fence-inside-reason', '6-bom-and-crlf'])('%s gives 0.7', async (name) => {
    await using scripted = await scriptedEndpoint([answer(all.get(name)?.bodyText ?? '')]);
    const { value, usage } = await scripted.endpoint.structured({ ...ASK, schema });
    expect(value.score).toBe(0.7);
    expect(usage.calls).toBe(1);
    if (name === '4-fence-inside-reason') expect(value.reason).toContain("```py\nprint({'score': 0.1})\n```");
  });

  it.each(['5-cut', '7-single-quotes'])('%s gives no score', async (name) => {
    const text = all.get(name)?.bodyText ?? '';
    await using scripted = await scriptedEndpoint([answer(text), answer(text)]);
    await expect(scripted.endpoint.structured({ ...ASK, schema })).rejects.toMatchObject({ kind: 'invalid_output' });
  });

  it('is whole: seven texts', () => {
    expect(all.size).toBe(7);
  });
});
