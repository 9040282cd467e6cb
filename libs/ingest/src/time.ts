/** An integer's unit is told by its size: these hold for dates from 1966 to 5138 (seconds) and 1973 on (the others). */
const SECONDS_BELOW = 1e11;
const MILLIS_BELOW = 1e14;
const MICROS_BELOW = 1e17;

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,64}))?(?:[Zz]|([+-])(\d\d):?(\d\d))$/;
const DECIMAL = /^[+-]?\d{1,32}(?:\.\d{1,32})?$/;
const MICROS_PER_SECOND = 1_000_000;

/**
 * A time from outside as integer microseconds since the Unix epoch, a safe integer (so years 1684 to 2255).
 * Takes RFC 3339 (any offset, any number of fraction digits, a leap second counts as the next second), numbers and
 * bigints in s, ms, us or ns (told by size), and decimal strings of those. What is finer than a microsecond is cut
 * off, towards the past; a number with a fraction, not exact in binary anyway, is rounded to the nearest microsecond. Anything else is undefined, a local time without an offset too: nobody knows when that was.
 */
export function toEpochMicros(value: unknown): number | undefined {
  if (typeof value === 'bigint') return fromInteger(value);
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const calendar = RFC_3339.exec(text);
  if (calendar !== null) return fromCalendar(calendar);
  if (!DECIMAL.test(text)) return undefined;
  return text.includes('.') ? fromNumber(Number(text)) : fromInteger(BigInt(text.replace(/^\+/, '')));
}

/**
 * RFC 3339 in UTC, with three fraction digits when the time is a whole number of milliseconds and with six otherwise.
 * @throws RangeError when `micros` is not a safe integer
 */
export function toIso(micros: number): string {
  if (!Number.isSafeInteger(micros)) throw new RangeError(`Not a time in integer microseconds: ${micros}.`);
  const millis = Math.floor(micros / 1000);
  const rest = micros - millis * 1000;
  const iso = new Date(millis).toISOString();
  return rest === 0 ? iso : `${iso.slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}

function fromNumber(value: number): number | undefined {
  if (Number.isInteger(value)) return fromInteger(BigInt(value));
  if (!Number.isFinite(value)) return undefined;
  const size = Math.abs(value);
  // A fraction is only met in seconds and milliseconds (time.time(), performance.now()); beyond, it is below a microsecond.
  if (size < SECONDS_BELOW) return safe(Math.round(value * MICROS_PER_SECOND));
  if (size < MILLIS_BELOW) return safe(Math.round(value * 1000));
  return fromInteger(BigInt(Math.floor(value)));
}

function fromInteger(value: bigint): number | undefined {
  const size = value < 0n ? -value : value;
  if (size < BigInt(SECONDS_BELOW)) return safe(Number(value * 1_000_000n));
  if (size < BigInt(MILLIS_BELOW)) return safe(Number(value * 1000n));
  if (size < BigInt(MICROS_BELOW)) return safe(Number(value));
  const micros = value / 1000n;
  return safe(Number(value < 0n && micros * 1000n !== value ? micros - 1n : micros));
}

function fromCalendar(parts: RegExpExecArray): number | undefined {
  const at = (index: number): number => Number(parts[index] ?? 0);
  const days = epochDays(at(1), at(2), at(3));
  const seconds = secondsOfDay(at(4), at(5), at(6));
  const offset = secondsOfDay(at(9), at(10), 0);
  if (days === undefined || seconds === undefined || offset === undefined) return undefined;
  const whole = days * 86_400 + seconds - (parts[8] === '-' ? -offset : offset);
  const fraction = Number((parts[7] ?? '').slice(0, 6).padEnd(6, '0'));
  return safe(whole * MICROS_PER_SECOND + fraction);
}

function epochDays(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  // setUTCFullYear, because Date.UTC takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 86_400_000;
}

function secondsOfDay(hour: number, minute: number, second: number): number | undefined {
  return hour <= 23 && minute <= 59 && second <= 60 ? hour * 3600 + minute * 60 + second : undefined;
}

function safe(micros: number): number | undefined {
  // Adding 0 turns -0, which JSON and comparisons would show, into 0.
  return Number.isSafeInteger(micros) ? micros + 0 : undefined;
}
