import { CommanderError } from 'commander';
import { CommandError, exitCodes, type ExitCode } from './exit-codes.js';

export interface Explained {
  readonly exitCode: ExitCode;
  /** Null when everything was said already. */
  readonly message: string | null;
}

/** Commands load what they need late, so that the offline ones start fast: their errors are told by name rather than by class. */
interface NamedError {
  readonly name: string;
  readonly message: string;
  readonly kind?: unknown;
  readonly code?: unknown;
  readonly problem?: { readonly status?: unknown } | undefined;
}

const HTTP_NOT_FOUND = 404;
/** Postgres: the table, or the schema, does not exist. */
const NO_TABLE = new Set(['42P01', '3F000']);
const AWAY = /^E(CONN|HOST|NET|PIPE|TIMEDOUT|AI_AGAIN)|^ENOTFOUND/;
const FILE_PROBLEMS: Readonly<Record<string, ExitCode>> = {
  ENOENT: exitCodes.notFound,
  EACCES: exitCodes.notAllowed,
  EPERM: exitCodes.notAllowed,
  EISDIR: exitCodes.usage,
};

/** The exit code of an error, and the line to show for it. */
export function explainError(error: unknown): Explained {
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: error.message };
  // Commander has shown its own message, or the help that was asked for.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage, message: null };
  const named = asNamed(error);
  if (named === undefined) return { exitCode: exitCodes.finding, message: String(error) };
  return { exitCode: codeOf(named), message: textOf(named) };
}

function codeOf({ name, kind, code, problem }: NamedError): ExitCode {
  if (name === 'SettingsError' || name === 'ZodError') return exitCodes.usage;
  if (name === 'ProblemError') return problem?.status === HTTP_NOT_FOUND ? exitCodes.notFound : exitCodes.usage;
  if (name === 'EmbeddedError') return kind === 'unreachable' ? exitCodes.unreachable : exitCodes.finding;
  if (typeof code !== 'string') return exitCodes.finding;
  return AWAY.test(code) ? exitCodes.unreachable : (FILE_PROBLEMS[code] ?? exitCodes.finding);
}

/** Node leaves the message empty when several addresses were tried; the code is all there is. */
function textOf({ name, message, code }: NamedError): string {
  if (typeof code === 'string' && NO_TABLE.has(code)) return `${message}: run \`fleetmend migrate\` first`;
  if (message !== '') return message;
  return typeof code === 'string' ? code : name;
}

/** By shape: an error may come from another realm (jest's, a worker's), where it is no instance of this one's Error. */
function asNamed(error: unknown): NamedError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { name, message } = error as Partial<NamedError>;
  return typeof name === 'string' && typeof message === 'string' ? (error as NamedError) : undefined;
}
