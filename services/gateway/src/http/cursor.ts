import { ProblemError, problemOf } from './problem.js';

/** The place in a list that is sorted by time (microseconds), newest first, then by id. */
export interface Place {
  readonly at: number;
  readonly id: string;
}

const CURSOR_ID = /^[\x20-\x7e]{1,300}$/;

export function encodeCursor({ at, id }: Place): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

/** @throws ProblemError 400 */
export function decodeCursor(cursor: string | undefined): Place | null {
  if (cursor === undefined) return null;
  const place = parsed(cursor);
  if (place !== undefined) return place;
  throw new ProblemError(
    problemOf('invalid-cursor', 400, 'Give `next_cursor` of the page before as it came, or leave `cursor` out to begin anew.'),
  );
}

function parsed(cursor: string): Place | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(value)) return undefined;
    const [at, id] = value as unknown[];
    return Number.isSafeInteger(at) && typeof id === 'string' && CURSOR_ID.test(id) ? { at: at as number, id } : undefined;
  } catch {
    return undefined;
  }
}

/** One item more than asked for was fetched: its presence says that there is a next page. */
export function pageOf<Item>(
  items: readonly Item[],
  limit: number,
  place: (item: Item) => Place,
): { items: Item[]; next_cursor: string | null } {
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown, next_cursor: items.length > limit && last !== undefined ? encodeCursor(place(last)) : null };
}
