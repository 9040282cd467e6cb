/** What went wrong, for programs; the message says it, and what to do about it, for people. */
export type EmbeddedErrorKind =
  /** Another Fleetmend uses the data folder. */
  | 'data-dir-in-use'
  /** The data folder cannot be written, or its disk is full. */
  | 'data-dir-unusable'
  /** No nats-server could be found or fetched, or no Postgres binaries fit this machine. */
  | 'binary-missing'
  /** A server did not start, or ended by itself. */
  | 'server-failed'
  /** A server given by the user does not answer. */
  | 'unreachable';

/** Thrown by everything in `#embedded`. The message never holds a password. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError';

  constructor(
    readonly kind: EmbeddedErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * The system's error code (`ENOENT`, `EACCES`, …) or a Postgres one (`57P03`), if the error has one. Looks at the shape, not at the
 * class: under jest, Node's own errors are no instances of the tests' Error.
 */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A short reason: the message, or the code where Node leaves the message empty (as it does for two refused addresses). */
export function reasonOf(error: unknown): string {
  const message: unknown = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  return typeof message === 'string' && message !== '' ? message : (codeOf(error) ?? String(error));
}
