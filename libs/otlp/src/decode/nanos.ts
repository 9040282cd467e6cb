/** How protobuf.js gives 64-bit numbers; some JSON writers do the same. */
interface Long {
  readonly low: number;
  readonly high: number;
}

const DIGITS = /^\d{1,20}$/;
/** Microseconds must stay safe integers: the year 2255. */
const NANOS_MAX = BigInt(Number.MAX_SAFE_INTEGER) * 1_000n;

/** A number of this size (from, below) is a time since 1973 or so in this unit. */
const UNITS = [
  { from: 10n ** 17n, below: NANOS_MAX, factor: 1n, name: 'nanoseconds' },
  { from: 10n ** 14n, below: 10n ** 17n, factor: 1_000n, name: 'microseconds' },
  { from: 10n ** 11n, below: 10n ** 14n, factor: 1_000_000n, name: 'milliseconds' },
  { from: 10n ** 8n, below: 10n ** 11n, factor: 1_000_000_000n, name: 'seconds' },
] as const;

/** Nanoseconds since the epoch; null when missing or no time since 1973. A note when it was sent in another unit, or was no time. */
export function nanosOf(value: unknown, field: string): { readonly nanos: bigint | null; readonly note?: string } {
  const integer = integerOf(value);
  if (integer === 0n || value === undefined || value === null || value === '') return { nanos: null };
  const unit = integer === undefined ? undefined : UNITS.find(({ from, below }) => integer >= from && integer < below);
  if (integer === undefined || unit === undefined) return { nanos: null, note: `${field} is no time` };
  if (unit.factor === 1n) return { nanos: integer };
  if (integer * unit.factor >= NANOS_MAX) return { nanos: null, note: `${field} is no time` };
  return { nanos: integer * unit.factor, note: `${field} was sent in ${unit.name}` };
}

/** A 64-bit integer in any form it is sent in; undefined for anything else. `Long`s are read as unsigned. */
export function integerOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'string') return DIGITS.test(value) ? BigInt(value) : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
  return isLong(value) ? bitsOf(value) : undefined;
}

export function isLong(value: unknown): value is Long {
  return (
    typeof value === 'object' &&
    value !== null &&
    'low' in value &&
    'high' in value &&
    typeof value.low === 'number' &&
    typeof value.high === 'number'
  );
}

export function bitsOf({ low, high }: Long): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}
