import type { Capabilities } from './capabilities.js';
import { EndpointRefusal } from './classify.js';
import type { ErrorBody } from './error-body.js';
import { ModelError } from './model-error.js';

export interface Fallback {
  readonly change: Partial<Capabilities>;
  /** False when the endpoint disliked this one request's value, not the parameter. */
  readonly lasting: boolean;
}

/** How a parameter is named in messages; the order decides when a message names several. */
const NAMES: Readonly<Record<string, RegExp>> = {
  response_format: /response[_ ]?format|json[_ ]schema|json[_ ]object|json mode|structured output|guided[_ ]json/i,
  reasoning_effort: /reasoning[_. ]?effort|does not support thinking|think value/i,
  max_completion_tokens: /max_completion_tokens/i,
  max_tokens: /\bmax_tokens/i,
  temperature: /\btemperature\b/i,
  tools: /\btools\b|tool[_ ](choice|calling|use|calls)/i,
};

/** A limit that is too high stays too high under another name, and without one the answer has no limit. */
const BAD_LIMIT = /too large|too high|less than or equal|at most|must be|greater than|exceeds|invalid value/i;

/**
 * What to leave out, or to say otherwise, after a request was refused: undefined when the endpoint (400 or 422) named nothing
 * that was sent and can be done without. Every fallback takes something away, so they come to an end.
 */
export function fallbackFor(error: unknown, body: Readonly<Record<string, unknown>>, known: Capabilities): Fallback | undefined {
  if (!(error instanceof ModelError) || error.kind !== 'config' || !(error.cause instanceof EndpointRefusal)) return undefined;
  const { status, said } = error.cause;
  if (status !== 400 && status !== 422) return undefined;
  const name = refusedOf(said, Object.keys(body));
  if (name === 'response_format') {
    const lasting = !/invalid schema/i.test(said.text);
    return { change: known.jsonSchema ? { jsonSchema: false } : { jsonMode: false }, lasting };
  }
  if (name === 'reasoning_effort') {
    return { change: { refusedEfforts: [...known.refusedEfforts, String(body[name])] }, lasting: true };
  }
  if (name === 'temperature') return { change: { temperature: false }, lasting: true };
  return name === undefined || BAD_LIMIT.test(said.text) ? undefined : otherLimit(name);
}

function otherLimit(name: string): Fallback | undefined {
  if (name === 'max_tokens') return { change: { maxTokensName: 'max_completion_tokens' }, lasting: true };
  return name === 'max_completion_tokens' ? { change: { maxTokensName: 'none' }, lasting: true } : undefined;
}

/** Whether the endpoint does not do tools for this model. There is no fallback: the caller needs another model. */
export function refusesTools(error: ModelError, body: Readonly<Record<string, unknown>>): boolean {
  const { cause } = error;
  return error.kind === 'config' && cause instanceof EndpointRefusal && refusedOf(cause.said, Object.keys(body)) === 'tools';
}

function refusedOf(said: ErrorBody, sent: readonly string[]): string | undefined {
  const candidates = Object.entries(NAMES).filter(([name]) => sent.includes(name));
  const named = candidates.find(([name]) => said.params.some((param) => param.split('.')[0] === name));
  return (named ?? candidates.find(([, pattern]) => pattern.test(said.text)))?.[0];
}
