import { MAX_COST_DAYS } from '#contracts';
import type { Period } from '../postgres/costs.js';
import { invalidRequest } from './problem.js';
import { microsOf } from './query-times.js';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
const CALENDAR_DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * The whole UTC days of a query: from the day of `since` to the last one that begins before `until`. Default: seven days, today
 * included. `now` in milliseconds. @throws ProblemError 422 when there is no such day, or there are more than 92
 */
export function periodOf(query: { readonly since?: unknown; readonly until?: unknown }, now: number): Period {
  const until = Math.ceil(daysOf('until', query.until) ?? Math.floor(now / DAY_MS) + 1);
  const since = Math.floor(daysOf('since', query.since) ?? until - DEFAULT_DAYS);
  if (since >= until) throw wrong('since', 'is not before until');
  if (until - since > MAX_COST_DAYS) throw wrong('since', `is more than ${MAX_COST_DAYS} days before until: ask in parts`);
  return { since: textOf(since), until: textOf(until) };
}

/** Days since the epoch, with their fraction. */
function daysOf(name: string, value: unknown): number | undefined {
  if (typeof value !== 'string' || !CALENDAR_DAY.test(value)) {
    const micros = microsOf(name, value);
    return micros === undefined ? undefined : micros / 1_000 / DAY_MS;
  }
  const ms = Date.parse(`${value}T00:00:00Z`);
  // February 30th would be read as March 2nd by some, and as no day by others.
  if (Number.isNaN(ms) || textOf(ms / DAY_MS) !== value) throw wrong(name, 'is no day of the calendar');
  return ms / DAY_MS;
}

const textOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

function wrong(path: string, message: string): Error {
  return invalidRequest(`${path}: ${message}`, [{ path, message }]);
}
