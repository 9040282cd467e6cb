/** A line longer than this is no turn: the gateway takes 64 MiB, and a file without line breaks must not fill the memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** One line without its end; `bytes` is null when it is longer than allowed. `number` counts from 1. */
export interface Line {
  readonly number: number;
  readonly bytes: Buffer | null;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Cuts a stream of bytes into lines, empty ones included, without ever holding more than one line. */
export async function* splitLines(source: AsyncIterable<Buffer>, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  const current = new Pending(maxBytes);
  let number = 1;
  for await (const chunk of source) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      current.add(chunk.subarray(from, at));
      yield { number, bytes: current.take() };
      number += 1;
      from = at + 1;
    }
    current.add(chunk.subarray(from));
  }
  if (!current.empty) yield { number, bytes: current.take() };
}

/** The part of a line that has come so far. */
class Pending {
  private parts: Buffer[] = [];
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  get empty(): boolean {
    return this.size === 0;
  }

  add(part: Buffer): void {
    this.size += part.length;
    if (this.size <= this.maxBytes) this.parts.push(part);
    else this.parts = [];
  }

  take(): Buffer | null {
    const line = this.size > this.maxBytes ? null : withoutReturn(Buffer.concat(this.parts));
    this.parts = [];
    this.size = 0;
    return line;
  }
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}

/** Nothing but white space; a line so is no record. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === RETURN);
}
