import { QueryRunnerAlreadyReleasedError } from 'typeorm';
import { InfrastructureError } from '#messaging';

interface DatabaseError {
  readonly code?: string;
  readonly message?: string;
}

/** The driver's own error inside TypeORM's, or the error itself. */
function driverError(error: unknown): DatabaseError {
  const { driverError: inner } = (error ?? {}) as { driverError?: DatabaseError };
  return inner ?? (error as DatabaseError | undefined) ?? {};
}

/** Serialization failure, deadlock, lost creation race (unique violation): the transaction is simply run again. */
const AGAIN = new Set(['40001', '40P01', '23505', '55P03']);

export function isWorthRerunning(error: unknown): boolean {
  return AGAIN.has(driverError(error).code ?? '');
}

/** Connection exceptions (class 08), resources (53), operator intervention (57P), I/O (58), and the socket's own errors. */
const AWAY_CODE = /^(08|53|57P|58)|^E(CONN|PIPE|HOST|NET|TIMEDOUT|AI_AGAIN|NOTFOUND)|^EAI_AGAIN|^ENOTFOUND/;
const AWAY_TEXT =
  /connection (terminated|ended|error)|timeout (exceeded )?when trying to connect|client has encountered a connection error|not queryable|read-only transaction/i;

/** An `InfrastructureError` when the database is away, else the error as it came. */
export function classifyDatabaseError(error: unknown): unknown {
  // What TypeORM says of a connection that ended between two queries of a transaction.
  if (error instanceof QueryRunnerAlreadyReleasedError) return new InfrastructureError('database', error);
  const { code, message } = driverError(error);
  if (AWAY_CODE.test(code ?? '') || AWAY_TEXT.test(message ?? '')) return new InfrastructureError('database', error);
  return error;
}
