import { createReadStream } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { isBlank, splitLines, type Line } from '../lines/split-lines.js';
import { writeOut } from '../output/write.js';

/** Answers one parsed line. Throws an error whose message says what is wrong with the line. */
export type Answerer = (line: unknown) => unknown;

/** Answers are collected up to this size before they are written: one write per line costs more than the fold. */
const WRITE_BYTES = 64 * 1024;

/**
 * One answer line per input line, from the files or standard input; blank lines are passed over. A bad line is answered with
 * `{error, line}`. Gives exit code 2 when there was one.
 */
export async function answerLines(files: readonly string[], answer: Answerer): Promise<ExitCode> {
  let bad = false;
  let waiting = '';
  for await (const line of linesOf(files)) {
    if (line.bytes !== null && isBlank(line.bytes)) continue;
    const result = answerOf(line, answer);
    bad ||= !result.ok;
    waiting += `${result.text}\n`;
    if (waiting.length < WRITE_BYTES) continue;
    await writeOut(waiting);
    waiting = '';
  }
  await writeOut(waiting);
  return bad ? exitCodes.usage : exitCodes.ok;
}

/** `-` and no file at all mean standard input. Every file is looked for before the first is answered. */
async function* linesOf(files: readonly string[]): AsyncGenerator<Line> {
  const named = files.filter((file) => file !== '-');
  await Promise.all(named.map((file) => access(file, constants.R_OK)));
  for (const file of files.length === 0 ? ['-'] : files) {
    yield* splitLines((file === '-' ? process.stdin : createReadStream(file)) as AsyncIterable<Buffer>);
  }
}

function answerOf({ bytes, number }: Line, answer: Answerer): { ok: boolean; text: string } {
  try {
    if (bytes === null) throw new RangeError('the line is longer than 64 MiB');
    return { ok: true, text: JSON.stringify(answer(JSON.parse(bytes.toString('utf8')) as unknown)) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, text: JSON.stringify({ error: reason, line: number }) };
  }
}
