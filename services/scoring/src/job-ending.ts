/** How a claim ended, apart from the values that it made. */
export type Ending =
  /** All that was taken on is done; what remains of the job goes to the end of its session's queue. */
  | { readonly kind: 'done' }
  /** Given back untouched: the process stops. */
  | { readonly kind: 'returned' }
  /** Something about this job failed. */
  | { readonly kind: 'failed'; readonly error: string; readonly delayMs: number }
  /** The provider cannot be asked just now. */
  | { readonly kind: 'rest'; readonly code: string; readonly error: string; readonly delayMs: number }
  /** The provider cannot be asked until somebody does something about it. */
  | { readonly kind: 'blocked'; readonly code: string; readonly error: string; readonly delayMs: number }
  /** There is nobody to ask, and nobody is missed. */
  | { readonly kind: 'dropped' };
