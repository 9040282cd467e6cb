import type { ImportedCases } from '#contracts';
import type { CaptureResult } from '#domain/evalset';
import type { ReadLine } from './read-lines.js';

type LineResult = ImportedCases['results'][number];

const REFUSED = 'wins alone fill eval_case_max: raise it, or remove wins';

/** What became of each line; `results` are those of the lines that are cases, in order. */
export function importAnswer(lines: readonly ReadLine[], results: readonly CaptureResult[], version: number): ImportedCases {
  let next = 0;
  const shown = lines.map((line) => (line.kept === null ? rejected(line) : lineResult(line.line, results[next++])));
  const count = (status: LineResult['status']): number => shown.filter((one) => one.status === status).length;
  return {
    version,
    ...{ captured: count('captured'), known: count('known'), refused: count('refused'), rejected: count('rejected') },
    evicted: results.flatMap((one) => (one.result === 'captured' ? one.evicted.map(({ id }) => id) : [])),
    results: shown,
  };
}

function rejected({ line, error }: { readonly line: number; readonly error: string }): LineResult {
  return { line, status: 'rejected', id: null, error };
}

function lineResult(line: number, result: CaptureResult | undefined): LineResult {
  if (result === undefined) throw new Error(`line ${line} has no result`);
  if (result.result === 'refused') return { line, status: 'refused', id: null, error: REFUSED };
  return { line, status: result.result, id: result.case.id, error: null };
}
