/** How many turns of a session can be folded again; the same number as gating's. */
export const REFOLD_TURNS = 500;
