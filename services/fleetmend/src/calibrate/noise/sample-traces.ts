import type { Trace, Turn } from '#contracts';
import { contentHash } from '#domain/ids';
import { normaliseTurn, parseJson } from '#ingest';
import { readRecordings, type ReadOptions } from '../../recordings/read-recordings.js';

/** A trace with the turn that it belongs to. */
export interface SampledTrace {
  readonly turn: Turn;
  readonly trace: Trace;
}

export interface Sample {
  readonly traces: readonly SampledTrace[];
  /** Of the file. */
  readonly found: number;
  /** Lines and turns that cannot be read, and why the first of them cannot. */
  readonly unreadable: number;
  readonly firstReason: string | null;
}

type Ranked = SampledTrace & { readonly rank: string };

/**
 * At most `most` traces of a file, the same ones each time: those whose ids hash lowest, so that the place in the file does not
 * matter. Holds no more than it gives.
 */
export async function sampleTraces(file: string, most: number, options: ReadOptions): Promise<Sample> {
  const chosen = new Map<string, Ranked>();
  const count = { found: 0, unreadable: 0 };
  let firstReason: string | null = null;
  const refuse = (reason: string): void => {
    count.unreadable += 1;
    firstReason ??= reason;
  };
  for await (const read of readRecordings(file, options)) {
    if (read.kind === 'score') continue;
    if (read.kind === 'rejected') {
      refuse(read.reason);
      continue;
    }
    const turn = turnOf(read.data);
    if (typeof turn === 'string') {
      refuse(turn);
      continue;
    }
    for (const trace of turn.traces ?? []) {
      count.found += 1;
      keepLowest(chosen, { turn, trace, rank: rankOf(turn, trace) }, most);
    }
  }
  const traces = [...chosen.values()].sort((a, b) => (a.rank < b.rank ? -1 : 1)).map(({ turn, trace }) => ({ turn, trace }));
  return { ...count, traces, firstReason };
}

/** The turn, or what is wrong with it. */
function turnOf(data: Buffer): Turn | string {
  try {
    const result = normaliseTurn(parseJson(data).value);
    if (result.ok) return result.turn;
    const [first] = result.errors;
    return `${first?.path ?? ''}: ${first?.message ?? 'is not valid'}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function rankOf({ session_id: session, turn_index: turn }: Turn, { trace_id: trace }: Trace): string {
  return contentHash(JSON.stringify([session, turn, trace]));
}

function keepLowest(chosen: Map<string, Ranked>, one: Ranked, most: number): void {
  chosen.set(one.rank, one);
  if (chosen.size <= most) return;
  const highest = [...chosen.keys()].reduce((a, b) => (a > b ? a : b));
  chosen.delete(highest);
}
