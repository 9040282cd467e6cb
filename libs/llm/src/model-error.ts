import { NO_USAGE, type Usage } from './usage.js';

/**
 * Why a model gave no answer, by what is to be done about it.
 * - `auth`, `config`, `billing`: nothing helps until a person acts; stop asking this endpoint.
 * - `rate_limit`, `unavailable`, `timeout`: ask again later, not before `retryAfterMs` where it is given.
 * - `context_length`: ask again with a shorter text.
 * - `content`: the provider declined this text; other texts are not affected.
 * - `invalid_output`: the model answered twice, and never in the shape asked for.
 * - `cancelled`: the caller's signal.
 */
export type ModelErrorKind =
  | 'auth'
  | 'config'
  | 'billing'
  | 'rate_limit'
  | 'unavailable'
  | 'timeout'
  | 'context_length'
  | 'content'
  | 'invalid_output'
  | 'cancelled';

const ADVICE: Readonly<Record<ModelErrorKind, string>> = {
  auth: 'the endpoint does not accept the key; check the key and what it may use',
  config: 'the endpoint does not take this request; check base_url, the model name and the parameters',
  billing: 'the account has no credit left; top it up or change the endpoint',
  rate_limit: 'the endpoint is asked too often; it is asked again later',
  unavailable: 'the endpoint does not work at the moment; it is asked again later',
  timeout: 'the endpoint took too long; raise the time-out if this model is always that slow',
  context_length: 'the text is too long for this model; shorten it',
  content: 'the provider declined this text',
  invalid_output: 'the model did not answer in the shape asked for',
  cancelled: 'the call was cancelled',
};

/** One sentence for people: what is wrong and what to do, then the endpoint's words. */
export function explain(kind: ModelErrorKind, detail: string): string {
  return `${ADVICE[kind]} (${detail})`;
}

export interface ModelErrorFields {
  /** HTTP status, where the endpoint answered. */
  readonly status?: number | undefined;
  /** The endpoint's own hint: not before this many milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
  /** What was spent before it failed. */
  readonly usage?: Usage;
  readonly cause?: unknown;
}

export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly usage: Usage;

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    fields: ModelErrorFields = {},
  ) {
    super(message, { cause: fields.cause });
    this.status = fields.status;
    this.retryAfterMs = fields.retryAfterMs;
    this.usage = fields.usage ?? NO_USAGE;
  }

  withUsage(usage: Usage): ModelError {
    const { status, retryAfterMs, cause } = this;
    return new ModelError(this.kind, this.message, { status, retryAfterMs, cause, usage });
  }
}
