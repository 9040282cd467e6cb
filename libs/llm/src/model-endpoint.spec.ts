import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { after, answer, answerJson, embeddings, hang, json, reset, status, truncated, vectorOf, type Reply } from '#testing';
import { scriptedEndpoint } from '../fixtures/endpoint.js';
import { ModelError, type ModelErrorKind } from './model-error.js';
import { unitScore } from './unit-score.js';

const verdict = z.object({ score: unitScore, reason: z.string() });
const GOOD = { score: 0.7, reason: 'ok' };

const ASK = {
  model: 'judge',
  system: 'You judge.',
  user: 'A trace.',
  schema: verdict,
  name: 'verdict',
  maxOutputTokens: 500,
} as const;
const CHAT = { model: 'judge', messages: [{ role: 'user', content: 'Hello' }], maxOutputTokens: 100 } as const;

async function failure(call: Promise<unknown>): Promise<ModelError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`);
  return error;
}

/** What a call fails with when Node's fetch fails for this cause. */
async function failureOfFetch(cause: object): Promise<ModelError> {
  await using scripted = await scriptedEndpoint([]);
  const fetch = jest.spyOn(globalThis, 'fetch').mockImplementation(() => {
    const reason = Object.assign(new Error('in its own words'), cause);
    return Promise.reject(new TypeError('fetch failed', { cause: reason }));
  });
  try {
    return await failure(scripted.endpoint.chat(CHAT));
  } finally {
    fetch.mockRestore();
  }
}

const refuses = (text: string, code = 400): Reply => status(code, { error: { message: text } });

describe('a structured answer', () => {
  it('asks for the schema, strictly, and sends no parameter that is not configured', async () => {
    await using scripted = await scriptedEndpoint([answerJson(GOOD)]);
    const { value, usage } = await scripted.endpoint.structured(ASK);
    expect(value).toEqual(GOOD);
    expect(usage).toMatchObject({ calls: 1, inputTokens: 12, outputTokens: 7, costUsd: 12 + 70, notes: [] });
    const [request] = scripted.server.requests;
    expect(request?.headers.authorization).toBe('Bearer sk-test');
    expect(Object.keys(request?.body ?? {}).sort()).toEqual(['max_tokens', 'messages', 'model', 'response_format']);
    expect(request?.body['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'verdict', strict: true },
    });
  });

  it('falls back to JSON mode once, tells the model the schema, and remembers', async () => {
    await using scripted = await scriptedEndpoint([
      refuses('response_format json_schema is not supported'),
      answerJson(GOOD),
      answerJson(GOOD),
    ]);
    const { usage } = await scripted.endpoint.structured(ASK);
    await scripted.endpoint.structured(ASK);
    const formats = scripted.server.requests.map(
      (request) => (request.body['response_format'] as { type?: string } | undefined)?.type,
    );
    expect(formats).toEqual(['json_schema', 'json_object', 'json_object']);
    expect(JSON.stringify(scripted.server.requests[1]?.body['messages'])).toContain('JSON Schema');
    expect(usage).toMatchObject({ calls: 2, notes: ['json_schema not accepted'] });
  });

  it('falls back to plain text after JSON mode', async () => {
    const no = refuses("'response_format' is not supported", 422);
    await using scripted = await scriptedEndpoint([
      no,
      no,
      answer('Here:\n```json\n{"score":"0.7","reason":"ok"}\n```'),
      answerJson(GOOD),
    ]);
    expect((await scripted.endpoint.structured(ASK)).value).toEqual(GOOD);
    await scripted.endpoint.structured(ASK);
    expect(scripted.server.requests.map((request) => 'response_format' in request.body)).toEqual([true, true, false, false]);
    expect(await scripted.capabilities.recall(scripted.server.url, 'judge')).toEqual({ jsonSchema: false, jsonMode: false });
  });

  it('does not hold it against a model that this one schema is invalid', async () => {
    await using scripted = await scriptedEndpoint([refuses("Invalid schema for response_format 'verdict'"), answerJson(GOOD)]);
    await scripted.endpoint.structured(ASK);
    expect(await scripted.capabilities.recall(scripted.server.url, 'judge')).toEqual({});
  });

  it('asks once more with what was wrong, and counts both', async () => {
    await using scripted = await scriptedEndpoint([answerJson({ score: 8.5, reason: 'ok' }), answerJson(GOOD)]);
    const { value, usage } = await scripted.endpoint.structured(ASK);
    expect(value).toEqual(GOOD);
    expect(usage).toMatchObject({ calls: 2, inputTokens: 24, outputTokens: 14, notes: ['answered in the wrong shape'] });
    const messages = scripted.server.requests[1]?.body['messages'] as { role: string; content: string }[];
    expect(messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[2]?.content).toContain('8.5');
    expect(messages[3]?.content).toMatch(/score[\s\S]*JSON Schema/);
  });

  it('gives up after the second wrong answer, with what both cost', async () => {
    await using scripted = await scriptedEndpoint([
      answer('I cannot say.'),
      answer(null, { finish: 'length' }),
      answerJson(GOOD),
    ]);
    const error = await failure(scripted.endpoint.structured(ASK));
    expect(error).toMatchObject({ kind: 'invalid_output', usage: { calls: 2, inputTokens: 24 } });
    expect(error.message).toContain('cut off');
    expect(scripted.server.requests).toHaveLength(2);
  });

  it.each<[string, Reply]>([
    ['a refusal', answer(null, { refusal: 'I will not.' })],
    ['a content filter', answer('{"score":', { finish: 'content_filter' })],
  ])('takes %s for content, and does not ask again', async (_, reply) => {
    await using scripted = await scriptedEndpoint([reply]);
    expect(await failure(scripted.endpoint.structured(ASK))).toMatchObject({
      kind: 'content',
      usage: { calls: 1, outputTokens: 7 },
    });
  });

  it('replaces half a surrogate pair, which strict servers refuse', async () => {
    await using scripted = await scriptedEndpoint([answerJson(GOOD)]);
    await scripted.endpoint.structured({ ...ASK, user: 'cut \ud83d' });
    expect(JSON.stringify(scripted.server.requests[0]?.body)).toContain('cut \ufffd');
  });
});

describe('parameters that a model refuses', () => {
  it('are each left out once, in a row, and remembered with a note', async () => {
    await using scripted = await scriptedEndpoint([
      refuses("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
      refuses("'temperature' does not support 0 with this model."),
      refuses('Unrecognized request argument supplied: reasoning_effort'),
      answer('Hi'),
      answer('Hi'),
    ]);
    const ask = { ...CHAT, temperature: 0, reasoningEffort: 'max' };
    const first = await scripted.endpoint.chat(ask);
    const second = await scripted.endpoint.chat(ask);
    expect(first.usage).toMatchObject({ calls: 4, notes: ['temperature not accepted', 'reasoning_effort not accepted'] });
    expect(second.usage).toMatchObject({ calls: 1, notes: ['temperature not accepted', 'reasoning_effort not accepted'] });
    expect(Object.keys(scripted.server.requests[4]?.body ?? {}).sort()).toEqual(['max_completion_tokens', 'messages', 'model']);
  });

  it('are remembered by model, and an effort by its value', async () => {
    await using scripted = await scriptedEndpoint(({ body }) =>
      body['model'] === 'judge' && body['reasoning_effort'] === 'max'
        ? refuses("'reasoning_effort' does not support 'max'")
        : answer('Hi'),
    );
    await scripted.endpoint.chat({ ...CHAT, reasoningEffort: 'max' });
    const other = await scripted.endpoint.chat({ ...CHAT, model: 'other', reasoningEffort: 'max' });
    const lower = await scripted.endpoint.chat({ ...CHAT, reasoningEffort: 'high' });
    expect([other.usage, lower.usage]).toMatchObject([
      { calls: 1, notes: [] },
      { calls: 1, notes: [] },
    ]);
  });

  it('end in an error, unremembered, when leaving them out does not help', async () => {
    await using scripted = await scriptedEndpoint(() => refuses("'temperature' is wrong, and so is 'max_tokens'"));
    const error = await failure(scripted.endpoint.chat({ ...CHAT, temperature: 0 }));
    expect(error).toMatchObject({ kind: 'config', usage: { calls: 3, costUsd: 0 } });
    expect(await scripted.capabilities.recall(scripted.server.url, 'judge')).toEqual({});
  });

  it('are not what is at fault when a limit is too high', async () => {
    await using scripted = await scriptedEndpoint([refuses('`max_tokens` must be less than or equal to 8192')]);
    expect(await failure(scripted.endpoint.chat(CHAT))).toMatchObject({ kind: 'config', usage: { calls: 1 } });
  });

  it('remembers that tools are not taken, for which there is no fallback', async () => {
    await using scripted = await scriptedEndpoint([refuses('judge does not support tools')]);
    const tools = [{ name: 'read', parameters: { type: 'object' } }];
    expect(await failure(scripted.endpoint.chat({ ...CHAT, tools }))).toMatchObject({ kind: 'config' });
    expect(await scripted.capabilities.recall(scripted.server.url, 'judge')).toEqual({ tools: false });
  });
});

describe('a failing endpoint', () => {
  it.each<[ModelErrorKind, number, Reply, number]>([
    ['auth', 401, status(401), 1],
    ['config', 404, refuses('model not found', 404), 1],
    ['billing', 429, status(429, { error: { code: 'insufficient_quota' } }), 1],
    ['context_length', 400, refuses('prompt is too long'), 1],
    ['rate_limit', 429, status(429), 3],
    ['unavailable', 500, status(500), 3],
    ['unavailable', 502, status(502, '<html>bad gateway</html>'), 3],
    ['config', 200, status(200, '<html>gateway login</html>', { 'content-type': 'text/html' }), 1],
    ['unavailable', 200, status(200, '{"choices":[{"mess', { 'content-type': 'application/json' }), 3],
    ['unavailable', 200, json({ choices: [] }), 3],
    ['unavailable', 502, json({ error: { message: 'provider broke' } }), 3],
  ])('gives %s on HTTP %s after the right number of requests', async (kind, code, reply, calls) => {
    await using scripted = await scriptedEndpoint(() => reply);
    expect(await failure(scripted.endpoint.chat(CHAT))).toMatchObject({ kind, status: code, usage: { calls } });
    expect(scripted.server.requests).toHaveLength(calls);
  });

  it.each<[string, Reply]>([
    ['a reset connection', reset()],
    ['a truncated body', truncated()],
  ])('is unavailable on %s, and may have charged for it', async (_, reply) => {
    await using scripted = await scriptedEndpoint(() => reply);
    const error = await failure(scripted.endpoint.chat(CHAT));
    expect(error).toMatchObject({ kind: 'unavailable', status: undefined, usage: { calls: 3, notes: ['tokens estimated'] } });
    expect(error.usage.inputTokens).toBeGreaterThan(0);
  });

  it('is unavailable, and cost nothing, when nobody listens', async () => {
    const scripted = await scriptedEndpoint([]);
    await scripted.server.close();
    const error = await failure(scripted.endpoint.chat(CHAT));
    expect(error).toMatchObject({ kind: 'unavailable', usage: { calls: 3, inputTokens: 0, costUsd: 0 } });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it.each([
    ['a connection that takes too long', { code: 'UND_ERR_CONNECT_TIMEOUT' }],
    ["the operating system's time-out of a connection", { code: 'ETIMEDOUT', syscall: 'connect' }],
    ['a refused connection', { code: 'ECONNREFUSED' }],
    ['a name that is not found', { code: 'ENOTFOUND' }],
    ['names that cannot be asked for', { code: 'EAI_AGAIN' }],
    ['a host that cannot be reached', { code: 'EHOSTUNREACH' }],
    ['a network that cannot be reached', { code: 'ENETUNREACH' }],
  ])('is unavailable, and cost nothing, on %s', async (_, cause) => {
    const error = await failureOfFetch(cause);
    expect(error).toMatchObject({ kind: 'unavailable', usage: { calls: 3, inputTokens: 0, costUsd: 0, notes: [] } });
  });

  it.each([
    ['timeout', { code: 'UND_ERR_HEADERS_TIMEOUT' }, 1],
    ['timeout', { code: 'UND_ERR_BODY_TIMEOUT' }, 1],
    ['unavailable', { code: 'ETIMEDOUT', syscall: 'read' }, 3],
    ['unavailable', { code: 'UND_ERR_SOCKET' }, 3],
  ])('is %s, and may have charged for it, on %j after the request was sent', async (kind, cause, calls) => {
    const error = await failureOfFetch(cause);
    expect(error).toMatchObject({ kind, usage: { calls, notes: ['tokens estimated'] } });
    expect(error.usage.inputTokens).toBeGreaterThan(0);
  });

  it.each<[string, Reply]>([
    ['headers', hang()],
    [
      'the end of a body',
      (response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":'),
    ],
  ])('times out waiting for %s, without a second try', async (_, reply) => {
    await using scripted = await scriptedEndpoint(() => reply, { timeoutMs: 50 });
    expect(await failure(scripted.endpoint.chat(CHAT))).toMatchObject({ kind: 'timeout', usage: { calls: 1 } });
  });

  it('is tried again, and what failed is counted', async () => {
    await using scripted = await scriptedEndpoint([status(500), reset(), answer('Hi')]);
    const { text, usage } = await scripted.endpoint.chat(CHAT);
    expect(text).toBe('Hi');
    expect(usage.calls).toBe(3);
    expect(scripted.clock.slept).toEqual([500, 1000]);
  });
});

describe('an endpoint that asks to wait', () => {
  it('is left alone by all callers until then, which makes no storm', async () => {
    const limited = status(429, {}, { 'retry-after': '7' });
    await using scripted = await scriptedEndpoint(({ index }) => (index === 0 ? limited : answer('Hi')), { concurrency: 1 });
    await Promise.all(Array.from({ length: 10 }, () => scripted.endpoint.chat(CHAT)));
    expect(scripted.server.requests).toHaveLength(11);
    expect(scripted.clock.slept).toEqual([7000]);
  });

  it('is asked for other models meanwhile: who waits holds no slot', async () => {
    const limited = status(429, {}, { 'retry-after': '7' });
    await using scripted = await scriptedEndpoint(({ index }) => (index === 0 ? limited : answer('Hi')), { concurrency: 1 });
    const { clock, server, endpoint } = scripted;
    const sleep = clock.sleep.bind(clock);
    let wakeUp = (): void => undefined;
    const woken = new Promise<void>((resolve) => (wakeUp = resolve));
    clock.sleep = (ms, signal) => woken.then(() => sleep(ms, signal));
    const waiting = [0, 1, 2].map(() => endpoint.chat(CHAT));
    expect((await endpoint.chat({ ...CHAT, model: 'other' })).text).toBe('Hi');
    expect(server.requests.map(({ body }) => body['model'])).toEqual(['judge', 'other']);
    wakeUp();
    await Promise.all(waiting);
    expect(server.requests).toHaveLength(5);
  });

  it('answers callers at once, without a request, when the hint is too long to wait for', async () => {
    await using scripted = await scriptedEndpoint([status(429, {}, { 'retry-after': '86400' })]);
    const first = await failure(scripted.endpoint.chat(CHAT));
    const second = await failure(scripted.endpoint.chat(CHAT));
    expect(first).toMatchObject({ kind: 'rate_limit', retryAfterMs: 86_400_000 });
    // After five minutes the endpoint is asked again whether the hint still holds.
    expect(second).toMatchObject({ kind: 'rate_limit', retryAfterMs: 300_000, usage: { calls: 0 } });
    expect(scripted.server.requests).toHaveLength(1);
    expect(scripted.clock.slept).toEqual([]);
  });

  it('is waited for in all no longer than the limit', async () => {
    await using scripted = await scriptedEndpoint(() => status(429, {}, { 'retry-after': '31' }));
    expect(await failure(scripted.endpoint.chat(CHAT))).toMatchObject({
      kind: 'rate_limit',
      retryAfterMs: 31_000,
      usage: { calls: 2 },
    });
    expect(scripted.clock.slept).toEqual([31_000]);
  });

  it('also by a hint on 503', async () => {
    await using scripted = await scriptedEndpoint([status(503, 'busy', { 'retry-after': '2' }), answer('Hi')]);
    await scripted.endpoint.chat(CHAT);
    expect(scripted.clock.slept).toEqual([2000]);
  });
});

describe('concurrency and cancellation', () => {
  it('never exceeds the limit', async () => {
    await using scripted = await scriptedEndpoint(() => after(20, answer('Hi')), { concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => scripted.endpoint.chat(CHAT)));
    expect(scripted.server.mostAtOnce).toBe(3);
  });

  it('cancels a running request, which counts, and one that waits for a slot, which does not', async () => {
    const abort = new AbortController();
    await using scripted = await scriptedEndpoint(
      () => {
        setTimeout(() => abort.abort(), 20);
        return hang();
      },
      { concurrency: 1 },
    );
    const calls = [0, 1].map(() => failure(scripted.endpoint.chat({ ...CHAT, signal: abort.signal })));
    const [running, waiting] = await Promise.all(calls);
    expect(running).toMatchObject({ kind: 'cancelled', usage: { calls: 1 } });
    expect(waiting).toMatchObject({ kind: 'cancelled', usage: { calls: 0 } });
    expect(scripted.server.requests).toHaveLength(1);
  });

  it('frees the slot of a cancelled request', async () => {
    const abort = new AbortController();
    const cancelWhenThere = (index: number): Reply => {
      if (index > 0) return answer('Hi');
      setTimeout(() => abort.abort(), 20);
      return hang();
    };
    await using scripted = await scriptedEndpoint(({ index }) => cancelWhenThere(index), { concurrency: 1 });
    const cancelled = failure(scripted.endpoint.chat({ ...CHAT, signal: abort.signal }));
    const next = scripted.endpoint.chat(CHAT);
    expect((await cancelled).kind).toBe('cancelled');
    expect((await next).text).toBe('Hi');
  });

  it('sends nothing for a signal that has already fired', async () => {
    await using scripted = await scriptedEndpoint([]);
    expect((await failure(scripted.endpoint.chat({ ...CHAT, signal: AbortSignal.abort() }))).kind).toBe('cancelled');
    expect(scripted.server.requests).toHaveLength(0);
  });
});

describe('usage', () => {
  it('is estimated, and says so, when the endpoint does not tell', async () => {
    await using scripted = await scriptedEndpoint([answer('hello world', { usage: null })]);
    const { usage } = await scripted.endpoint.chat(CHAT);
    expect(usage).toMatchObject({ outputTokens: 2, notes: ['tokens estimated'] });
    expect(usage.inputTokens).toBeGreaterThan(0);
  });

  it('has no cost for a model without a price', async () => {
    await using scripted = await scriptedEndpoint([answer('Hi')]);
    expect((await scripted.endpoint.chat({ ...CHAT, model: 'homemade' })).usage).toMatchObject({
      inputTokens: 12,
      costUsd: null,
    });
  });
});

describe('headers', () => {
  it('carry no key when there is none, and those of the configuration', async () => {
    await using scripted = await scriptedEndpoint([answer('Hi')], { apiKey: undefined, headers: { 'x-team': 'red' } });
    await scripted.endpoint.chat(CHAT);
    const headers = scripted.server.requests[0]?.headers;
    expect(headers?.authorization).toBeUndefined();
    expect(headers?.['x-team']).toBe('red');
  });

  it.each<[string, object]>([
    ['a key with a line break inside', { apiKey: 'sk-secret\nx' }],
    ['a header with a character of another alphabet', { headers: { 'x-team': 'secret к' } }],
    ['a base_url that is not one', { baseUrl: 'secret.example.com/v1' }],
    ['a base_url with a password', { baseUrl: 'https://me:secret@example.com/v1' }],
    ['a base_url with a user', { baseUrl: 'https://secret@example.com/v1' }],
  ])('cannot be made of %s, and the error does not quote a secret', async (_, options) => {
    const error = await failure(scriptedEndpoint([], options));
    expect(error.kind).toBe('config');
    expect(error.message).not.toContain('secret');
  });

  it('carry a key without the line break that its file ended with; an empty key is none', async () => {
    await using scripted = await scriptedEndpoint([answer('Hi')], { apiKey: 'sk-test\n' });
    await using keyless = await scriptedEndpoint([answer('Hi')], { apiKey: '' });
    await scripted.endpoint.chat(CHAT);
    await keyless.endpoint.chat(CHAT);
    const sent = [scripted, keyless].map(({ server }) => server.requests[0]?.headers.authorization);
    expect(sent).toEqual(['Bearer sk-test', undefined]);
  });

  it('do not go where a redirect leads', async () => {
    await using other = await scriptedEndpoint([answer('Hi')]);
    const leads = (code: number): Reply => status(code, '', { location: `${other.server.url}/chat/completions` });
    await using scripted = await scriptedEndpoint(({ index }) => leads([301, 302, 303, 307, 308][index] ?? 308));
    for (const code of [301, 302, 303, 307, 308]) {
      const error = await failure(scripted.endpoint.chat(CHAT));
      expect(error).toMatchObject({ kind: 'config', status: code, usage: { calls: 1, costUsd: 0 } });
      expect(error.message).toMatch(/redirects are not followed: set the final address as base_url/);
    }
    expect(other.server.requests).toEqual([]);
  });

  it.each<[string, (headers: object) => Reply]>([
    ['a message', (headers) => status(401, { error: { message: `refused: ${JSON.stringify(headers)}` } })],
    ['a plain text', (headers) => status(403, JSON.stringify(headers))],
    ['a web page', (headers) => status(404, `<html>${JSON.stringify(headers)}`, { 'content-type': 'text/html' })],
    ['details', (headers) => status(422, { detail: [{ loc: ['body'], msg: JSON.stringify(headers) }] })],
    ["another provider's words", (headers) => status(400, { error: { metadata: { raw: JSON.stringify(headers) } } })],
    ['an error in an answer of 200', (headers) => json({ error: { code: 400, message: JSON.stringify(headers) } })],
    ['a text that is cut off inside of it', () => status(400, `${'x'.repeat(1990)}key-of-ours-1`)],
  ])('are not in the error when the endpoint echoes them in %s', async (_, reply) => {
    const headers = { 'x-gateway': 'Token word-of-ours', 'x-more': 'key-of-ours-1-and-more', 'x-team': 'red' };
    await using scripted = await scriptedEndpoint(({ headers: sent }) => reply(sent), { apiKey: 'key-of-ours-1', headers });
    const error = await failure(scripted.endpoint.chat(CHAT));
    const told = `${error.message} ${(error.cause as Error).message} ${JSON.stringify(error.cause)}`;
    expect(told).toContain('[redacted]');
    expect(told).not.toMatch(/key-of|word-of|and-more/);
  });

  it('take nothing from the environment', async () => {
    process.env['OPENAI_CUSTOM_HEADERS'] = 'x-leak: yes';
    process.env['OPENAI_ORG_ID'] = 'org-leak';
    try {
      await using scripted = await scriptedEndpoint([answer('Hi')]);
      await scripted.endpoint.chat(CHAT);
      expect(JSON.stringify(scripted.server.requests[0]?.headers)).not.toContain('leak');
    } finally {
      delete process.env['OPENAI_CUSTOM_HEADERS'];
      delete process.env['OPENAI_ORG_ID'];
    }
  });
});

describe('embeddings', () => {
  it('come in the order of their texts, over several requests', async () => {
    await using scripted = await scriptedEndpoint([]);
    const inputs = Array.from({ length: 250 }, (_, at) => 'x'.repeat(at + 1));
    const { vectors, usage } = await scripted.endpoint.embed({ model: 'judge', inputs });
    expect(vectors).toEqual(inputs.map((input) => vectorOf(input)));
    expect(usage).toMatchObject({ calls: 3, inputTokens: 250, outputTokens: 0, costUsd: 250 });
  });

  it('of nothing need no request', async () => {
    await using scripted = await scriptedEndpoint([]);
    expect(await scripted.endpoint.embed({ model: 'judge', inputs: [] })).toMatchObject({
      vectors: [],
      usage: { calls: 0, costUsd: 0 },
    });
  });

  it('of a blank text are refused before the others are spoilt', async () => {
    await using scripted = await scriptedEndpoint([]);
    expect(await failure(scripted.endpoint.embed({ model: 'judge', inputs: ['a', ' '] }))).toMatchObject({
      kind: 'content',
      usage: { calls: 0 },
    });
  });

  it.each<[string, Reply]>([
    ['are too few', embeddings(['a'])],
    ['differ in length', json({ data: [{ embedding: [1] }, { embedding: [1, 2] }] })],
    [
      'have one place twice',
      json({
        data: [
          { index: 0, embedding: [1] },
          { index: 0, embedding: [2] },
        ],
      }),
    ],
    [
      'have a place that does not exist',
      json({
        data: [
          { index: 0, embedding: [1] },
          { index: 7, embedding: [2] },
        ],
      }),
    ],
    ['hold no number', json({ data: [{ embedding: [1] }, { embedding: [null] }] })],
  ])('that %s are not used', async (_, reply) => {
    await using scripted = await scriptedEndpoint(() => reply);
    expect(await failure(scripted.endpoint.embed({ model: 'judge', inputs: ['a', 'b'] }))).toMatchObject({ kind: 'unavailable' });
  });
});
