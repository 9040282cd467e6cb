import type { ErrorBody } from './error-body.js';

/** An absurd hint must not bury a job: a day later the endpoint may be asked again, whatever it said. */
export const HINT_MAX_MS = 24 * 60 * 60 * 1000;

const SECONDS = /^\d+(\.\d+)?$/;
const DURATION = /^(\d+(?:\.\d+)?)s$/;
/** "try again in 94ms", "retry in 31.2s", "try again in 1m30s", "in 1h12m", "retry after 20 seconds". */
const SAID = /(?:again|retry)\s+(?:in|after)\s+([\d.]+\s*[a-z]+(?:\s*[\d.]+\s*[a-z]+)*)/i;
const SAID_PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi;
const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(ms|milliseconds?)$/i, 1],
  [/^(s|secs?|seconds?)$/i, 1000],
  [/^(m|mins?|minutes?)$/i, 60_000],
  [/^(h|hours?)$/i, 3_600_000],
];

/**
 * How long the endpoint wants to be left alone, in ms: the longest of what it wrote in `retry-after-ms`, `retry-after` (seconds
 * or a date), RetryInfo and its text. Undefined when there is nothing readable and positive; at most a day.
 * @param now milliseconds since the epoch, which a date is counted from
 */
export function retryHintMs(headers: Headers, said: ErrorBody, now: number): number | undefined {
  const hints = [
    numberIn(headers.get('retry-after-ms'), 1),
    numberIn(headers.get('retry-after'), 1000) ?? untilDate(headers.get('retry-after'), now),
    ...said.retryDelays.map((delay) => numberIn(DURATION.exec(delay)?.[1], 1000)),
    inText(said.text),
  ].filter((hint) => hint !== undefined && hint > 0);
  return hints.length === 0 ? undefined : Math.min(HINT_MAX_MS, Math.max(...hints.map(Number)));
}

function numberIn(text: string | null | undefined, unitMs: number): number | undefined {
  return text !== null && text !== undefined && SECONDS.test(text.trim()) ? Number(text) * unitMs : undefined;
}

function untilDate(text: string | null, now: number): number | undefined {
  // Date.parse takes "-5" for a year; a date as HTTP writes it begins with its weekday.
  if (text === null || !/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - now;
}

function inText(text: string): number | undefined {
  const parts = [...(SAID.exec(text)?.[1] ?? '').matchAll(SAID_PART)];
  const known = parts.map(([, amount, unit]) => Number(amount) * (UNITS.find(([name]) => name.test(unit ?? ''))?.[1] ?? 0));
  return known.length === 0 ? undefined : known.reduce((total, ms) => total + ms, 0);
}
