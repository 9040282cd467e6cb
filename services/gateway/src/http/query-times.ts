import { toEpochMicros } from '#ingest';
import { invalidRequest } from './problem.js';

/** A time of a query as integer microseconds; undefined stays. @throws ProblemError 422 */
export function microsOf(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const micros = toEpochMicros(value);
  if (micros !== undefined) return micros;
  const message = 'is no time: give RFC 3339 (2026-11-30T02:00:00Z), or an integer in s, ms, us or ns';
  throw invalidRequest(`${name}: ${message}`, [{ path: name, message }]);
}
