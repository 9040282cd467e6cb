import type { Gateway, Query } from './gateway.js';

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

export interface PageOptions {
  readonly limit?: number;
  readonly cursor?: string;
  readonly all?: boolean;
}

const LARGEST_PAGE = 200;

/** One page, or with `all` every page as one; what else a page says is that of the last one. */
export async function readPages<Item>(
  gateway: Gateway,
  path: string,
  filter: Query,
  { limit, cursor, all }: PageOptions,
): Promise<Page<Item>> {
  const size = limit ?? (all === true ? LARGEST_PAGE : undefined);
  const items: Item[] = [];
  let page: Page<Item>;
  let next: string | null | undefined = cursor;
  do {
    page = await gateway.get<Page<Item>>(path, { ...filter, limit: size, cursor: next ?? undefined });
    items.push(...page.items);
    next = page.next_cursor;
  } while (all === true && next !== null);
  return { ...page, items };
}
