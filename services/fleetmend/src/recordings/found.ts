/** Where in which file something stands. A file that is one JSON value has no lines. */
export interface Origin {
  readonly file: string;
  readonly line: number | null;
}

/** A turn or a score as the gateway takes it, or what could not be read. */
export type Found =
  | { readonly kind: 'turn' | 'score'; readonly session: string; readonly data: Buffer }
  | { readonly kind: 'rejected'; readonly reason: string };

export const rejected = (reason: string): Found & { kind: 'rejected' } => ({ kind: 'rejected', reason });

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
