import { readErrorBody, type ErrorBody } from './error-body.js';
import type { HttpReply } from './http-client.js';
import { explain, ModelError, type ModelErrorKind } from './model-error.js';
import { retryHintMs } from './retry-hint.js';

/** The endpoint's own words, kept as the cause of the ModelError. */
export class EndpointRefusal extends Error {
  override readonly name = 'EndpointRefusal';

  constructor(
    readonly status: number,
    readonly said: ErrorBody,
  ) {
    super(`HTTP ${status}: ${said.text}`);
  }
}

/** How OpenAI, Azure, vLLM, llama.cpp, TGI, Anthropic, Gemini, Bedrock, Groq and Ollama say that a text is too long. */
const TOO_LONG = new RegExp(
  [
    'maximum context length',
    'context[ _](window|length|limit|size)[^.]{0,40}(exceed|limit)',
    "exceeds? (the |this )?(model's |available |maximum )*context",
    'exceed context limit',
    'longer than the maximum model length',
    'maximum (prompt|input) length',
    'prompt is too long',
    'input is too long',
    'input token count .{0,20} exceeds',
    'max_new_tokens. must be',
    'reduce (the length of|your) (the )?(messages|message|prompt|input)',
    // Over a limit per minute by itself: waiting never helps.
    'request too large',
  ].join('|'),
  'i',
);
const TOO_LONG_CODES = ['context_length_exceeded', 'exceed_context_size_error', 'string_above_max_length', 'request_too_large'];
const CONTENT_CODES = ['content_filter', 'content_policy_violation', 'responsibleaipolicyviolation', 'invalid_prompt'];
const BILLING_CODES = ['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active', 'insufficient_balance'];
const NO_CREDIT = /insufficient (balance|credits?|funds)|credit balance is too low|requires more credits/i;
/** Groq: the model wrote something that is not JSON, and its text is withheld. */
const NOT_JSON_CODES = ['json_validate_failed'];

/** The error that a reply with an error status, or an error in its body, amounts to. `hide` takes secrets out of its words. */
export function errorOf(reply: HttpReply, now: number, hide?: (text: string) => string): ModelError {
  if (reply.status >= 300 && reply.status < 400) return redirected(reply.status);
  const said = readErrorBody(reply.text, hide);
  const status = reply.status < 400 ? statusIn(said) : reply.status;
  const refusal = new EndpointRefusal(status, said);
  const kind = kindOf(status, said);
  const waits = kind === 'rate_limit' || kind === 'unavailable';
  const retryAfterMs = waits ? retryHintMs(reply.headers, said, now) : undefined;
  return new ModelError(kind, explain(kind, refusal.message), { status, retryAfterMs, cause: refusal });
}

/** Followed, it would take the key and the headers of one endpoint to another. */
function redirected(status: number): ModelError {
  const detail = `HTTP ${status}, and redirects are not followed: set the final address as base_url`;
  return new ModelError('config', explain('config', detail), { status });
}

/** Some routers answer 200 and put the status into the error; without one it counts as the provider's failure. */
function statusIn(said: ErrorBody): number {
  const status = said.codes.map(Number).find((code) => code >= 400 && code <= 599);
  return status ?? 502;
}

function kindOf(status: number, said: ErrorBody): ModelErrorKind {
  const coded = (codes: readonly string[]): boolean => said.codes.some((code) => codes.includes(code));
  if (status === 401) return 'auth';
  if (status === 402 || coded(BILLING_CODES) || NO_CREDIT.test(said.text)) return 'billing';
  if (coded(TOO_LONG_CODES) || status === 413 || TOO_LONG.test(said.text)) return 'context_length';
  if (coded(CONTENT_CODES) || status === 451) return 'content';
  if (coded(NOT_JSON_CODES)) return 'invalid_output';
  return byStatus(status);
}

function byStatus(status: number): ModelErrorKind {
  if (status === 403) return 'auth';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate_limit';
  // 409 and 425 are a conflict that passes; 501 never does.
  if (status === 409 || status === 425 || (status >= 500 && status !== 501)) return 'unavailable';
  return 'config';
}
