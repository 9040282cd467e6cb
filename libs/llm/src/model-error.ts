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
