import { createReadStream, type ReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { parseJson, stringifyJson } from '#ingest';
import { recogniseExport } from '#otlp';
import { recognise, sweAgent, tauBench, type TurnInput } from '#recordings';
import { CommandError, exitCodes } from '../exit-codes.js';
import { isBlank, splitLines } from '../lines/split-lines.js';
import { reasonOf, rejected, type Found, type Origin } from './found.js';
import { TraceDump } from './trace-dump.js';

export { type Origin } from './found.js';

export interface ReadOptions {
  /** The reward of a tau-bench conversation becomes `outcome_correct` of its last turn. */
  readonly withRewards?: boolean | undefined;
  /** The tool catalogue of recordings that have none of their own. */
  readonly tools?: readonly unknown[] | undefined;
  /** Part of the session ids of tau-bench rows, which do not say their domain. */
  readonly domain?: string | undefined;
}

/** What a file holds, and where. `readBytes`: how much of the file was read by then. */
export type Read = Found & { readonly origin: Origin; readonly readBytes: number };

const STDIN = '-';
const LINE_FILES = new Set(['.jsonl', '.ndjson']);
/** A file that is one JSON value is held whole, as text and as objects. */
const MAX_WHOLE_BYTES = 256 * 1024 * 1024;
const UNKNOWN =
  'neither a turn (session_id, turn_index), nor traces (OTLP resourceSpans, an export of OpenAI Agents or Langfuse), ' +
  'nor a tau-bench row (traj), nor a SWE-agent trajectory (trajectory with steps)';
const NO_TRACES = 'logs or metrics of OTLP: only traces are read';
/** Text has no such bytes; a protobuf message has them among its first. */
const CONTROL_BYTES = /[\x00-\x08\x0b\x0c\x0e-\x1f]/;
const HEAD_BYTES = 4_096;

/** What it takes to read one record. */
interface Reading {
  readonly file: string;
  readonly options: ReadOptions;
  readonly dump: TraceDump;
}

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

/**
 * Everything in one file, in its order. JSONL is read line by line; a file that is one JSON value, or protobuf, at once. Traces become
 * turns when the file has been read; or, where a dump is `shared` between files, when its owner asks it.
 */
export async function* readRecordings(file: string, options: ReadOptions, shared?: TraceDump): AsyncGenerator<Read> {
  const reading = { file, options, dump: shared ?? new TraceDump() };
  let readBytes = 0;
  for await (const read of recordings(reading)) {
    ({ readBytes } = read);
    yield read;
  }
  if (shared === undefined) for (const found of reading.dump.turns(options.tools)) yield { ...found, readBytes };
}

async function* recordings(reading: Reading): AsyncGenerator<Read> {
  const { file } = reading;
  if (file !== STDIN && ((await isBinary(file)) || !(LINE_FILES.has(extname(file)) || (await beginsWithARecord(file))))) {
    yield* readWhole(reading);
    return;
  }
  const source = file === STDIN ? process.stdin : createReadStream(file);
  let readBytes = 0;
  for await (const line of splitLines(source as AsyncIterable<Buffer>)) {
    readBytes = (source as Partial<ReadStream>).bytesRead ?? readBytes + (line.bytes?.length ?? 0);
    const origin = { file, line: line.number };
    for (const found of recordsIn(line.bytes, origin, reading)) yield { ...found, origin, readBytes };
  }
}

async function isBinary(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return CONTROL_BYTES.test(buffer.toString('latin1', 0, bytesRead));
  } finally {
    await handle.close();
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

async function* readWhole(reading: Reading): AsyncGenerator<Read> {
  const { file, dump } = reading;
  const { size: readBytes } = await stat(file);
  const origin = { file, line: null };
  if (readBytes > MAX_WHOLE_BYTES) {
    yield { ...rejected('one value of more than 256 MiB: make it JSONL, one record a line'), origin, readBytes };
    return;
  }
  const bytes = await readFile(file);
  const found = (await isBinary(file)) ? dump.addOtlp(bytes, 'protobuf', origin) : wholeValue(bytes, origin, reading);
  for (const one of found) yield { ...one, origin, readBytes };
}

function wholeValue(bytes: Buffer, origin: Origin, reading: Reading): Found[] {
  try {
    const { value } = parseJson(bytes);
    // A list may be one export; otherwise it is a list of records.
    const records: readonly unknown[] = Array.isArray(value) && recogniseExport(value) === undefined ? value : [value];
    return records.flatMap((record) => turnsOf(record, records.length === 1 ? bytes : undefined, origin, reading));
  } catch (error) {
    return [rejected(`neither one JSON value nor JSONL: ${reasonOf(error)}`)];
  }
}

/** What one line holds (null: it is too long). A turn travels as its own bytes, so that nothing of it is lost on the way. */
function recordsIn(bytes: Buffer | null, origin: Origin, reading: Reading): Found[] {
  if (bytes === null) return [rejected('longer than 64 MiB')];
  if (isBlank(bytes)) return [];
  try {
    return turnsOf(parseJson(bytes).value, bytes, origin, reading);
  } catch (error) {
    return [rejected(reasonOf(error))];
  }
}

function turnsOf(record: unknown, bytes: Buffer | undefined, origin: Origin, { file, options, dump }: Reading): Found[] {
  try {
    const kind = recognise(record);
    if (kind === 'tau-bench') return fromTauBench(record, options);
    if (kind === 'swe-agent')
      return sweAgent(record, basename(file))
        .map((turn) => withTools(turn, options))
        .map(asTurn);
    return (kind === undefined ? fromTraces(record, bytes, origin, dump) : undefined) ?? [asItIs(record, bytes)];
  } catch (error) {
    return [rejected(reasonOf(error))];
  }
}

/** Undefined when the record holds no traces. */
function fromTraces(record: unknown, bytes: Buffer | undefined, origin: Origin, dump: TraceDump): Found[] | undefined {
  if (has(record, 'resourceSpans')) return dump.addOtlp(bytes ?? Buffer.from(stringifyJson(record)), 'json', origin);
  if (has(record, 'resourceLogs') || has(record, 'resourceMetrics')) return [rejected(NO_TRACES)];
  const kind = recogniseExport(record);
  return kind === undefined ? undefined : dump.addExport(record, kind, (bytes ?? stringifyJson(record)).length, origin);
}

function has(record: unknown, key: string): boolean {
  return typeof record === 'object' && record !== null && Object.hasOwn(record, key);
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
