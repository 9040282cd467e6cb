/** What the exit code of a command says (CONTRACTS 7). */
export const exitCodes = { ok: 0, finding: 1, usage: 2, notFound: 3, notAllowed: 4, unreachable: 5 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Called by a command that ends well enough to say so itself; without it the exit code is 0. */
export type Finish = (code: ExitCode) => void;

/** Ends a command with one clear line, which names what to do, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
