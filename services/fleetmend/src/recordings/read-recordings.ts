import { createReadStream, type ReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { parseJson } from '#ingest';
import { recognise, sweAgent, tauBench, type TurnInput } from '#recordings';
import { CommandError, exitCodes } from '../exit-codes.js';
import { isBlank, splitLines } from '../lines/split-lines.js';

export interface ReadOptions {
  /** The reward of a tau-bench conversation becomes `outcome_correct` of its last turn. */
  readonly withRewards?: boolean | undefined;
  /** The tool catalogue of recordings that have none of their own. */
  readonly tools?: readonly unknown[] | undefined;
  /** Part of the session ids of tau-bench rows, which do not say their domain. */
  readonly domain?: string | undefined;
}

/** Where in which file something stands. A file that is one JSON value has no lines. */
export interface Origin {
  readonly file: string;
  readonly line: number | null;
}

/** A turn or a score as the gateway takes it, or what could not be read. `readBytes`: how much of the file was read by then. */
export type Read = { readonly origin: Origin; readonly readBytes: number } & (
  | { readonly kind: 'turn' | 'score'; readonly session: string; readonly data: Buffer }
  | { readonly kind: 'rejected'; readonly reason: string }
);

type Found =
  | { readonly kind: 'turn' | 'score'; readonly session: string; readonly data: Buffer }
  | { readonly kind: 'rejected'; readonly reason: string };

const STDIN = '-';
const LINE_FILES = new Set(['.jsonl', '.ndjson']);
/** A file that is one JSON value is held whole, as text and as objects. */
const MAX_WHOLE_BYTES = 256 * 1024 * 1024;
const UNKNOWN =
  'neither a turn (session_id, turn_index), nor a tau-bench row (traj), nor a SWE-agent trajectory (trajectory with steps)';

/** Looks for the files before anything is done with them. Gives their size together, 0 for standard input. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(files.filter((file) => file !== STDIN).map(sizeOfFile));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOfFile(file: string): Promise<number> {
  const stats = await stat(file).catch((error: unknown) => {
    throw new CommandError(exitCodes.notFound, `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (stats.isDirectory()) throw new CommandError(exitCodes.usage, `${file} is a folder: name the files in it`);
  return stats.size;
}

/** Everything in one file, in its order. JSONL is read line by line; a file that is one JSON value at once. */
export async function* readRecordings(file: string, options: ReadOptions): AsyncGenerator<Read> {
  if (file !== STDIN && !LINE_FILES.has(extname(file)) && !(await beginsWithARecord(file))) {
    yield* readWhole(file, options);
    return;
  }
  const source = file === STDIN ? process.stdin : createReadStream(file);
  let readBytes = 0;
  for await (const line of splitLines(source as AsyncIterable<Buffer>)) {
    readBytes = (source as Partial<ReadStream>).bytesRead ?? readBytes + (line.bytes?.length ?? 0);
    for (const found of recordsIn(line.bytes, file, options)) yield { ...found, origin: { file, line: line.number }, readBytes };
  }
}

/** Whether the first line is a JSON value by itself that is no list: then the others are too. */
async function beginsWithARecord(file: string): Promise<boolean> {
  for await (const { bytes } of splitLines(createReadStream(file) as AsyncIterable<Buffer>)) {
    if (bytes === null) return false;
    if (isBlank(bytes)) continue;
    return !Array.isArray(parsed(bytes) ?? []);
  }
  return true;
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes).value;
  } catch {
    return undefined;
  }
}

async function* readWhole(file: string, options: ReadOptions): AsyncGenerator<Read> {
  const { size: readBytes } = await stat(file);
  const origin = { file, line: null };
  if (readBytes > MAX_WHOLE_BYTES) {
    yield { ...rejected('one JSON value of more than 256 MiB: make it JSONL, one record a line'), origin, readBytes };
    return;
  }
  const found = wholeValue(await readFile(file), file, options);
  for (const one of found) yield { ...one, origin, readBytes };
}

function wholeValue(bytes: Buffer, file: string, options: ReadOptions): Found[] {
  try {
    const { value } = parseJson(bytes);
    const records: readonly unknown[] = Array.isArray(value) ? value : [value];
    return records.flatMap((record) => turnsOf(record, undefined, file, options));
  } catch (error) {
    return [rejected(`neither one JSON value nor JSONL: ${reasonOf(error)}`)];
  }
}

/** What one line holds (null: it is too long). A turn travels as its own bytes, so that nothing of it is lost on the way. */
export function recordsIn(bytes: Buffer | null, file: string, options: ReadOptions): Found[] {
  if (bytes === null) return [rejected('longer than 64 MiB')];
  if (isBlank(bytes)) return [];
  try {
    return turnsOf(parseJson(bytes).value, bytes, file, options);
  } catch (error) {
    return [rejected(reasonOf(error))];
  }
}

function turnsOf(record: unknown, bytes: Buffer | undefined, file: string, options: ReadOptions): Found[] {
  try {
    switch (recognise(record)) {
      case 'tau-bench':
        return fromTauBench(record, options);
      case 'swe-agent':
        return sweAgent(record, basename(file))
          .map((turn) => withTools(turn, options))
          .map(asTurn);
      case 'turn':
      case undefined:
        return [asItIs(record, bytes)];
    }
  } catch (error) {
    return [rejected(reasonOf(error))];
  }
}

/** What looks like a turn with a fault is sent all the same: the gateway says best what is wrong with it. */
function asItIs(record: unknown, bytes: Buffer | undefined): Found {
  const { session_id: session, turn_index: index, traces } = (record ?? {}) as Record<string, unknown>;
  if (session === undefined && index === undefined && traces === undefined) return rejected(UNKNOWN);
  return {
    kind: 'turn',
    session: typeof session === 'string' ? session : '',
    data: bytes ?? Buffer.from(JSON.stringify(record)),
  };
}

function fromTauBench(record: unknown, { tools, domain, withRewards }: ReadOptions): Found[] {
  const { turns, reward } = tauBench(record, {
    ...(tools === undefined ? {} : { tools }),
    ...(domain === undefined ? {} : { domain }),
  });
  const last = turns.at(-1);
  const found: Found[] = turns.map(asTurn);
  if (withRewards && reward !== null && last !== undefined) found.push(asScore(last, reward));
  return found;
}

function withTools(turn: TurnInput, { tools }: ReadOptions): TurnInput {
  return tools === undefined || turn.tools !== undefined ? turn : { ...turn, tools: tools as NonNullable<TurnInput['tools']> };
}

export function asTurn(turn: TurnInput): Extract<Found, { kind: 'turn' | 'score' }> {
  return { kind: 'turn', session: turn.session_id, data: Buffer.from(JSON.stringify(turn)) };
}

function asScore({ session_id, turn_index }: TurnInput, reward: number): Found {
  const scores = [{ metric: 'outcome_correct', value: reward, reason: 'the recorded reward' }];
  return { kind: 'score', session: session_id, data: Buffer.from(JSON.stringify({ session_id, turn_index, scores })) };
}

const rejected = (reason: string): Found & { kind: 'rejected' } => ({ kind: 'rejected', reason });

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
