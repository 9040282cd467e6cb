import { derivedId } from '../ids/index.js';

export type CaseKind = 'failure' | 'win';

/** A session kept as an example. A case without a replay input cannot be replayed; it is a label all the same. */
export interface EvalCase {
  readonly id: string;
  readonly session: string;
  readonly kind: CaseKind;
  /** Sorted and without repeats. */
  readonly signature: readonly string[];
  /** Scores at capture, by metric. */
  readonly baseline: Readonly<Record<string, number>>;
  readonly replayInput: unknown;
  readonly notes: string;
}

/** Oldest first. */
export type EvalSet = readonly EvalCase[];

export type CaptureResult =
  | { readonly result: 'captured'; readonly case: EvalCase; readonly evicted: readonly EvalCase[] }
  /** There is one of the same session, signature and kind. */
  | { readonly result: 'known'; readonly case: EvalCase }
  /** Wins alone fill the set, and wins are never evicted. */
  | { readonly result: 'refused' };

/**
 * Takes a case into the set, once per session, signature and kind. In a full set the oldest failures make room, wins never.
 * @param max the most cases (`eval_case_max`); 0: without limit
 */
export function captureCase(set: EvalSet, offered: EvalCase, max: number): { set: EvalSet; outcome: CaptureResult } {
  const captured = { ...offered, signature: sortedSignature(offered.signature) };
  const known = set.find((one) => sameKey(one, captured));
  if (known !== undefined) return { set, outcome: { result: 'known', case: known } };
  const excess = max <= 0 ? 0 : Math.max(0, set.length + 1 - max);
  const evicted = set.filter(({ kind }) => kind === 'failure').slice(0, excess);
  if (evicted.length < excess) return { set, outcome: { result: 'refused' } };
  const left = set.filter((one) => !evicted.includes(one));
  return { set: [...left, captured], outcome: { result: 'captured', case: captured, evicted } };
}

export function sortedSignature(signature: readonly string[]): string[] {
  return [...new Set(signature)].sort();
}

/** The id of the case of a session (its key), kind and signature: the same wherever and whenever it is captured. */
export function evalCaseId(s: string, kind: CaseKind, signature: readonly string[]): string {
  return `c-${derivedId(kind === 'failure' ? 'case' : 'win', s, ...sortedSignature(signature))}`;
}

/** Scores at capture: metric to value, of what was measured; a metric of several traces keeps the last. */
export function baselineOf(
  scores: readonly { readonly metric: string; readonly value: number | null }[],
): Record<string, number> {
  return Object.fromEntries(scores.flatMap(({ metric, value }) => (value === null ? [] : [[metric, value]])));
}

function sameKey(one: EvalCase, other: EvalCase): boolean {
  if (one.session !== other.session || one.kind !== other.kind || one.signature.length !== other.signature.length) return false;
  return one.signature.every((signature, at) => signature === other.signature[at]);
}

/** Makes a case replayable; null when there is no such case. */
export function attachInput(set: EvalSet, id: string, replayInput: unknown): EvalSet | null {
  return set.some((one) => one.id === id) ? set.map((one) => (one.id === id ? { ...one, replayInput } : one)) : null;
}

/** Null when there is no such case. */
export function removeCase(set: EvalSet, id: string): EvalSet | null {
  return set.some((one) => one.id === id) ? set.filter((one) => one.id !== id) : null;
}

export function isReplayable({ replayInput }: EvalCase): boolean {
  return replayInput !== null && replayInput !== undefined;
}

/** What a turn's end state gives to replay: an empty one gives nothing. */
export function replayInputOf(endState: unknown): unknown {
  if (endState === null || endState === undefined) return null;
  return typeof endState === 'object' && Object.keys(endState).length === 0 ? null : endState;
}

/** A case as lists show it: its input may be large, and may hold what only the replay needs to know. */
export function caseSummary(one: EvalCase): Omit<EvalCase, 'replayInput'> & { readonly replayable: boolean } {
  const { replayInput: _, ...shown } = one;
  return { ...shown, replayable: isReplayable(one) };
}

/** Failures that share a signature with those given, newest first. Wins never match. */
export function matchingCases(set: EvalSet, signatures: readonly string[]): EvalCase[] {
  const wanted = new Set(signatures);
  return set.filter(({ kind, signature }) => kind === 'failure' && signature.some((one) => wanted.has(one))).reverse();
}
