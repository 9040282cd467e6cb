/** Recordings hold no times. Synthetic ones start here: fixed, so that the same recording always gives the same turns. */
export const EPOCH = Date.UTC(2026, 0, 1);

/** Gives one second to every message or step, in their order: `at(n)` is RFC 3339. */
export interface Clock {
  at(index: number): string;
}

export function clockFrom(startedAt: number = EPOCH): Clock {
  return { at: (index) => new Date(startedAt + index * 1000).toISOString() };
}
