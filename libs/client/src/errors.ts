/**
 * Why a call came to nothing. `refused`: it cannot be answered as it is (a scope that is none, a key that may not): asking again changes
 * nothing. `unavailable`: nobody answered in time, or not now: asking again may.
 */
export class FleetmendError extends Error {
  override readonly name = 'FleetmendError';

  constructor(
    readonly kind: 'refused' | 'unavailable',
    message: string,
    options: ErrorOptions & {
      /** The HTTP status, or the code of the micro service; null when nobody answered. */
      readonly status?: number | null;
    } = {},
  ) {
    super(message, options);
    this.status = options.status ?? null;
  }

  readonly status: number | null;
}

const SERVER_FAULT = 500;
const TOO_MANY = 429;

/** What an answer with this code says. */
export function errorOf(status: number, message: string): FleetmendError {
  return new FleetmendError(status >= SERVER_FAULT || status === TOO_MANY ? 'unavailable' : 'refused', message, { status });
}

/** Nobody answered. */
export function nobody(error: unknown, what: string): FleetmendError {
  if (error instanceof FleetmendError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new FleetmendError('unavailable', `${what}: ${reason}`, { cause: error });
}
