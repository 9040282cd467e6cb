import { describe, expect, it } from '@jest/globals';
import { errorOf } from './classify.js';
import type { ModelErrorKind } from './model-error.js';

function kindOf(status: number, body: unknown): ModelErrorKind {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return errorOf({ status, headers: new Headers(), text }, 0).kind;
}

const message = (text: string, fields: object = {}) => ({ error: { message: text, ...fields } });

describe('what an error of an endpoint amounts to', () => {
  it.each<[ModelErrorKind, number, unknown]>([
    ['auth', 401, message('Incorrect API key provided')],
    ['auth', 403, 'forbidden'],
    ['config', 404, message('model not found')],
    ['config', 404, '<html>not found</html>'],
    ['config', 400, message('messages is required')],
    ['config', 405, ''],
    ['config', 501, message('not implemented')],
    ['billing', 402, message('Payment required')],
    ['billing', 429, message('billing', { code: 'insufficient_quota' })],
    ['billing', 429, message('x', { type: 'insufficient_quota' })],
    ['billing', 400, message('Your credit balance is too low to access the API')],
    ['billing', 403, message('Insufficient Balance')],
    [
      'rate_limit',
      429,
      message('Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 94ms.'),
    ],
    // Gemini says this of its limits per minute; only a code tells that the account is empty.
    [
      'rate_limit',
      429,
      message('You exceeded your current quota, please check your plan and billing details.', { status: 'RESOURCE_EXHAUSTED' }),
    ],
    ['unavailable', 500, message('internal')],
    ['unavailable', 503, 'upstream busy'],
    ['unavailable', 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
    ['unavailable', 409, ''],
    ['timeout', 408, ''],
    ['content', 400, message('filtered', { code: 'content_filter', innererror: { code: 'ResponsibleAIPolicyViolation' } })],
    ['content', 400, message('x', { code: 'content_policy_violation' })],
    ['invalid_output', 400, message('Failed to generate JSON', { code: 'json_validate_failed' })],
    ['context_length', 400, message('x', { code: 'context_length_exceeded' })],
    ['context_length', 413, ''],
  ])('is %s: HTTP %s %j', (kind, status, body) => {
    expect(kindOf(status, body)).toBe(kind);
  });

  it.each<[string, number, string]>([
    ['OpenAI', 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."],
    ['OpenAI', 400, 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
    ['OpenAI', 429, 'Request too large for gpt-4o in organization x on tokens per min (TPM): Limit 30000, Requested 40000.'],
    [
      'vLLM',
      400,
      "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens",
    ],
    ['vLLM', 400, 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.'],
    ['llama.cpp', 500, 'the request exceeds the available context size. try increasing the context size or enable context shift'],
    ['llama.cpp', 400, 'request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it'],
    ['Anthropic', 400, 'prompt is too long: 210000 tokens > 200000 maximum'],
    ['Anthropic', 400, 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000'],
    ['Gemini', 400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
    ['TGI', 422, 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096'],
    ['Bedrock', 400, 'Input is too long for requested model.'],
    ['Groq', 400, 'Please reduce the length of the messages or completion.'],
    ['xAI', 400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."],
    ['Ollama', 400, 'the input length exceeds the context length'],
  ])('is context_length in the words of %s (%s)', (_, status, text) => {
    expect(kindOf(status, message(text))).toBe('context_length');
    expect(kindOf(status, { detail: text })).toBe('context_length');
  });

  it('takes the status out of the body where a router answers 200', () => {
    expect(kindOf(200, { error: { message: 'slow down', code: 429 } })).toBe('rate_limit');
    expect(kindOf(200, { error: { message: 'provider broke' } })).toBe('unavailable');
  });

  it('says what to do, then what the endpoint said', () => {
    const error = errorOf({ status: 401, headers: new Headers(), text: '{"error":"bad key"}' }, 0);
    expect(error.message).toBe('the endpoint does not accept the key; check the key and what it may use (HTTP 401: bad key)');
    expect(error.status).toBe(401);
  });
});
