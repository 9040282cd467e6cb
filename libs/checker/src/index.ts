export { checkInvariants, type CheckOptions, type CheckResult } from './check-invariants.js';
export type { Violation } from './findings.js';
export { finalState, firstDifference, type FinalState, type FinalStateOptions } from './final-state/final-state.js';
export { Restlessness } from './restlessness.js';
