import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { files, type Comparison, type GoldenLine } from './kinds.js';

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
}

const SHOWN_DIFFERENCES = 3;
const SHOWN_TEXT = 300;

/** Compares every line of a golden file, named by its file name without folder and `.jsonl`; by kind, in the order of their coming. */
export async function compareFile(path: string, name: string): Promise<KindResult[]> {
  const results = new Map<string, { lines: number; equal: number; built: boolean; differences: Difference[] }>();
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1;
    if (text.trim() === '') continue;
    const line = JSON.parse(text) as GoldenLine;
    const kind = typeof line['kind'] === 'string' ? line['kind'] : name;
    const compare = files[name]?.(kind);
    const result = results.get(kind) ?? { lines: 0, equal: 0, built: compare !== undefined, differences: [] };
    results.set(kind, result);
    result.lines += 1;
    if (compare === undefined) continue;
    const detail = differenceOf(() => compare(line));
    if (detail === undefined) result.equal += 1;
    else if (result.differences.length < SHOWN_DIFFERENCES) result.differences.push({ line: number, detail });
  }
  return [...results].map(([kind, result]) => ({ kind, ...result }));
}

function differenceOf(compare: () => Comparison): string | undefined {
  try {
    const { expected, actual } = compare();
    return isDeepStrictEqual(plain(actual), expected) ? undefined : where('', expected, plain(actual));
  } catch (error) {
    return `it throws: ${error instanceof Error ? error.message : String(error)}`;
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
