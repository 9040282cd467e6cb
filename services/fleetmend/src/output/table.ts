import { sanitize } from '#domain/text';

export interface Column<Item> {
  readonly title: string;
  readonly of: (item: Item) => string | number;
  readonly right?: boolean;
}

const GAP = '  ';
const LEAST_WIDTH = 12;

/** Rows under titles. With `width` the last column is cut to fit it. */
export function table<Item>(items: readonly Item[], columns: readonly Column<Item>[], width?: number): string {
  const rows = [columns.map(({ title }) => title), ...items.map((item) => columns.map(({ of }) => cell(of(item))))];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) => fit(lineOf(row, widths, columns), width)).join('\n');
}

function lineOf(row: readonly string[], widths: readonly number[], columns: readonly { right?: boolean }[]): string {
  const cells = row.map((text, at) => (columns[at]?.right ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)));
  return cells.join(GAP).trimEnd();
}

function fit(line: string, width: number | undefined): string {
  if (width === undefined || width < LEAST_WIDTH || line.length <= width) return line;
  return `${line.slice(0, width - 1)}…`;
}

/** Session ids and summaries come from outside: nothing in them may move the cursor or break the row. */
function cell(value: string | number): string {
  return sanitize(String(value), { markers: [] }).replace(/\s+/g, ' ');
}

/** Microseconds since the epoch as a time of day that sorts. */
export function when(micros: number | null): string {
  return micros === null ? '' : new Date(micros / 1000).toISOString().slice(0, 19).replace('T', ' ');
}
