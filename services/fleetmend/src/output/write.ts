/** The one place that writes to standard output and standard error. */

/** Answers. Resolves when the text is handed over, so that a slow reader slows the writer. */
export async function writeOut(text: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}

/** Messages for people: one line. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** As it is; for progress that overwrites itself, and for commander's own messages. */
export function writeErr(text: string): void {
  process.stderr.write(text);
}

export const terminals = {
  get out(): boolean {
    return process.stdout.isTTY;
  },
  get err(): boolean {
    return process.stderr.isTTY;
  },
  get columns(): number {
    return process.stdout.columns || process.stderr.columns || 100;
  },
};

/** A reader that has seen enough (`| head`) is no error. */
export function endQuietlyWhenNobodyReads(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  }
}
