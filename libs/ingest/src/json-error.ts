/** Characters shown on each side of the place that could not be read. */
const EXCERPT_SIDE = 24;

/** Text that is not JSON even with everything `parseJson` forgives. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** Line and column of the place, both from 1; the column counts UTF-16 units. */
  readonly line: number;
  readonly column: number;
  /** The text around the place, on one line. */
  readonly excerpt: string;

  /**
   * @param reason what was expected or is wrong, and what to do about it
   * @param text the whole text
   * @param position index of the place in it
   */
  constructor(reason: string, text: string, position: number) {
    const before = text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - before.lastIndexOf('\n');
    const excerpt = excerptAt(text, position);
    super(`Not readable as JSON at line ${line}, column ${column}: ${reason} Near: ${excerpt}`);
    this.line = line;
    this.column = column;
    this.excerpt = excerpt;
  }
}

function excerptAt(text: string, position: number): string {
  const around = text.slice(Math.max(0, position - EXCERPT_SIDE), position + EXCERPT_SIDE);
  // JSON.stringify shows control characters and lone surrogates as escapes.
  return around === '' ? '(empty)' : JSON.stringify(around);
}
