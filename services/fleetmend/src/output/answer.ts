import { table, type Column } from './table.js';
import { terminals, writeOut } from './write.js';

export const formats = ['json', 'pretty'] as const;
export type Format = (typeof formats)[number];

export interface FormatOption {
  readonly format?: Format;
}

/** What `--format` says; without it pretty on a terminal and JSON elsewhere. */
export function formatOf({ format }: FormatOption): Format {
  return format ?? (terminals.out ? 'pretty' : 'json');
}

/** Prints one answer: a line of JSON, or the text that `pretty` makes of it (indented JSON without one). */
export async function answer<T>(value: T, options: FormatOption, pretty?: (value: T) => string): Promise<void> {
  if (formatOf(options) === 'json') return writeOut(`${JSON.stringify(value)}\n`);
  return writeOut(`${pretty === undefined ? JSON.stringify(value, null, 2) : pretty(value)}\n`);
}

/** A table of the items, or what to say when there are none. */
export function listed<Item>(items: readonly Item[], columns: readonly Column<Item>[], none: string): string {
  return items.length === 0 ? none : table(items, columns, terminals.out ? terminals.columns : undefined);
}
