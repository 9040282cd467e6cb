/** A body opened by its format: lists of lists, each item read only when its turn comes. */
export interface OpenBody {
  readonly resources: Iterable<Opened<ResourceEntry>>;
}
export interface ResourceEntry {
  readonly resource: unknown;
  readonly scopes: Iterable<Opened<ScopeEntry>>;
}
export interface ScopeEntry {
  readonly scope: unknown;
  readonly spans: Iterable<Opened<unknown>>;
}
export type Opened<T> = { readonly value: T } | { readonly broken: string };
