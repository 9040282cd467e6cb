import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import type { Comparison, GoldenLine } from './comparison.js';
import { files } from './kinds.js';

export interface Difference {
  readonly line: number;
  readonly detail: string;
}

/** Lines of one kind: how many there are, how many agree, and the first that do not. */
export interface KindResult {
  readonly kind: string;
  readonly built: boolean;
  readonly lines: number;
  readonly equal: number;
  readonly differences: readonly Difference[];
  /** Lines that the product answers otherwise on purpose, by reason. */
  readonly onPurpose: ReadonlyMap<string, readonly number[]>;
}

interface Counting {
  lines: number;
  equal: number;
  readonly built: boolean;
  readonly differences: Difference[];
  readonly onPurpose: Map<string, number[]>;
}

const SHOWN_DIFFERENCES = 3;
const SHOWN_TEXT = 300;

/** Compares every line of a golden file, named by its file name without folder and `.jsonl`; by kind, in the order of their coming. */
export async function compareFile(path: string, name: string): Promise<KindResult[]> {
  const results = new Map<string, Counting>();
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1;
    if (text.trim() === '') continue;
    const line = JSON.parse(text) as GoldenLine;
    const kind = typeof line['kind'] === 'string' ? line['kind'] : name;
    const compare = files[name]?.(kind);
    const result = results.get(kind) ?? {
      ...{ lines: 0, equal: 0, built: compare !== undefined },
      ...{ differences: [], onPurpose: new Map<string, number[]>() },
    };
    results.set(kind, result);
    result.lines += 1;
    if (compare !== undefined) countLine(result, number, () => compare(line));
  }
  return [...results].map(([kind, result]) => ({ kind, ...result }));
}

function countLine(result: Counting, line: number, compare: () => Comparison): void {
  const { detail, onPurpose } = differenceOf(compare);
  if (onPurpose !== undefined) result.onPurpose.set(onPurpose, [...(result.onPurpose.get(onPurpose) ?? []), line]);
  if (detail === undefined) result.equal += 1;
  else if (result.differences.length < SHOWN_DIFFERENCES) result.differences.push({ line, detail });
}

function differenceOf(compare: () => Comparison): { detail?: string; onPurpose?: string } {
  try {
    const { expected, actual, onPurpose } = compare();
    if (!isDeepStrictEqual(plain(actual), expected)) return { detail: where('', expected, plain(actual)) };
    return onPurpose === undefined ? {} : { onPurpose };
  } catch (error) {
    return { detail: `it throws: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** As it would be written: members that are undefined do not count. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** The first place where the two differ. */
function where(path: string, expected: unknown, actual: unknown): string {
  if (isObject(expected) && isObject(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    const name = names.find((one) => !isDeepStrictEqual(expected[one], actual[one]));
    if (name !== undefined) return where(path === '' ? name : `${path}.${name}`, expected[name], actual[name]);
  }
  return `${path}: right is ${shown(expected)}, ours is ${shown(actual)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'missing' : JSON.stringify(value);
  return text.length > SHOWN_TEXT ? `${text.slice(0, SHOWN_TEXT)}…` : text;
}
