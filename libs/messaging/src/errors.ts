/** The message can never succeed: it goes to the dead letters with this text, and is not tried again. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
}

/** The database, the broker or the endpoint for scores is away: what failed is tried again without limit and without counting. */
export class InfrastructureError extends Error {
  override readonly name = 'InfrastructureError';
  constructor(
    readonly dependency: 'database' | 'broker' | 'scores_out',
    cause: unknown,
  ) {
    super(`${dependency} is away: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
