import type { ErrorBody } from './error-body.js';

/** An absurd hint must not bury a job: a day later the endpoint may be asked again, whatever it said. */
export const HINT_MAX_MS = 24 * 60 * 60 * 1000;

const SECONDS = /^\d+(\.\d+)?$/;
const DURATION = /^(\d+(?:\.\d+)?)s$/;
/** "try again in 94ms", "retry in 31.2s", "try again in 1m30s", "retry after 20 seconds". */
const SAID =
  /(?:again|retry)\s+(?:in|after)\s+(?:(\d+)\s*m(?:in(?:ute)?s?)?\s*)?(?:(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|sec(?:ond)?s?)\b)?/i;

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
  const [, minutes, amount, unit] = SAID.exec(text) ?? [];
  if (minutes === undefined && amount === undefined) return undefined;
  const unitMs = unit?.toLowerCase().startsWith('m') === true ? 1 : 1000;
  return Number(minutes ?? 0) * 60_000 + Number(amount ?? 0) * unitMs;
}
