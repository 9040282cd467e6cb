import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { MAX_IMPORT_LINES, type ImportedCases } from '#contracts';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { openGateway, problemError, type Gateway } from '../http/gateway.js';
import { isBlank, splitLines } from '../lines/split-lines.js';
import { answer } from '../output/answer.js';
import { Progress } from '../output/progress.js';
import { say, writeOut } from '../output/write.js';
import type { EvalSetOptions } from './run-evalset.js';

const JSON_LINES = 'application/x-ndjson';
const NEWLINE = 0x0a;
/** A request holds fewer bytes than the gateway takes, and few enough that the progress is seen. */
const PART_BYTES = 8 * 1024 * 1024;
const SAID = 20;

/** Writes the set to a file, which has its name only once it is whole. */
export async function exportCases(file: string, options: EvalSetOptions): Promise<void> {
  const stream = await (await openGateway(options)).open('/v1/evalset/export', { accept: JSON_LINES });
  if (file === '-') {
    for await (const bytes of stream) await writeOut(bytes);
    return;
  }
  let cases = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const bytes of stream) {
      for (const byte of bytes) if (byte === NEWLINE) cases += 1;
      yield bytes;
    }
  };
  const part = `${file}.part`;
  try {
    await pipeline(counted, createWriteStream(part));
    await rename(part, file);
  } finally {
    await rm(part, { force: true });
  }
  await answer({ file, cases }, options, () => `${cases} cases in ${file}`);
}

type Summary = Omit<ImportedCases, 'results' | 'version'> & { version: number | null };
type LineResult = ImportedCases['results'][number];

/** Imports a file part by part. Exit code 1 when a line was not taken. */
export async function importCases(file: string, options: EvalSetOptions): Promise<ExitCode> {
  const gateway = await openGateway(options);
  const size = file === '-' ? 0 : (await stat(file)).size;
  const progress = new Progress('importing', size);
  const summary: Summary = { version: null, captured: 0, known: 0, refused: 0, rejected: 0, evicted: [] };
  let [read, said] = [0, 0];
  for await (const part of partsOf(file)) {
    const results = await sendPart(gateway, part, summary);
    read += part.bytes;
    progress.show(read, `${summary.captured} captured`);
    for (const { line, error } of results) {
      if (error === null || (said += 1) > SAID) continue;
      progress.clear();
      say(`line ${line}: ${error}`);
    }
  }
  progress.clear();
  const untaken = summary.refused + summary.rejected;
  if (untaken > SAID) say(`and ${untaken - SAID} more lines that were not taken`);
  await answer(summary, options, summaryText);
  return untaken > 0 ? exitCodes.finding : exitCodes.ok;
}

function summaryText({ captured, known, refused, rejected, evicted, version }: Summary): string {
  const at = version === null ? '' : ` (version ${version})`;
  return `${captured} captured, ${known} known, ${refused} refused, ${rejected} rejected, ${evicted.length} made room${at}`;
}

interface Part {
  readonly lines: Buffer[];
  /** Of each line, in the file. */
  readonly numbers: number[];
  bytes: number;
}

async function* partsOf(file: string): AsyncGenerator<Part> {
  let part: Part = { lines: [], numbers: [], bytes: 0 };
  const source = (file === '-' ? process.stdin : createReadStream(file)) as AsyncIterable<Buffer>;
  for await (const { bytes, number } of splitLines(source)) {
    if (bytes !== null && isBlank(bytes)) continue;
    // Longer than the gateway takes: it is told so by a line that is none.
    const line = bytes ?? Buffer.from('(longer than 64 MiB)');
    if (part.lines.length === MAX_IMPORT_LINES || (part.lines.length > 0 && part.bytes + line.length > PART_BYTES)) {
      yield part;
      part = { lines: [], numbers: [], bytes: 0 };
    }
    part.lines.push(line);
    part.numbers.push(number);
    part.bytes += line.length + 1;
  }
  if (part.lines.length > 0) yield part;
}

/** Adds to the summary what became of a part. Gives its lines, numbered as in the file. */
async function sendPart(gateway: Gateway, { lines, numbers }: Part, summary: Summary): Promise<LineResult[]> {
  const body = Buffer.concat(lines.flatMap((line) => [line, Buffer.of(NEWLINE)]));
  const reply = await gateway.raw('POST', '/v1/evalset/import', body, JSON_LINES);
  if (reply.status >= 400) throw problemError(reply);
  const { version, captured, known, refused, rejected, evicted, results } = reply.body as ImportedCases;
  Object.assign(summary, {
    version,
    ...{ captured: summary.captured + captured, known: summary.known + known, refused: summary.refused + refused },
    ...{ rejected: summary.rejected + rejected, evicted: [...summary.evicted, ...evicted] },
  });
  return results.map((one) => ({ ...one, line: numbers[one.line - 1] ?? one.line }));
}
