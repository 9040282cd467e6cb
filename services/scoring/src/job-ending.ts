/** How a claim ended, apart from the values that it made. */
export type Ending =
  /** All that was taken on is done; what remains of the job goes to the end of its session's queue. */
  | { readonly kind: 'done' }
  /** Given back untouched: the process stops. */
  | { readonly kind: 'returned' }
  /** Something about this job failed; `late`: there was no answer in time. */
  | { readonly kind: 'failed'; readonly error: string; readonly delayMs: number; readonly late?: boolean }
  /** The provider cannot be asked just now. */
  | ({ readonly kind: 'rest' } & ProviderTrouble)
  /** The provider cannot be asked until somebody does something about it. */
  | ({ readonly kind: 'blocked' } & ProviderTrouble)
  /** There is nobody to ask, and nobody is missed. */
  | { readonly kind: 'dropped' };

interface ProviderTrouble {
  readonly code: string;
  readonly error: string;
  readonly delayMs: number;
  /** It may be this one question that the provider cannot take: it answered with a status that says so, or that it failed over it. */
  readonly ofQuestion?: boolean;
}
