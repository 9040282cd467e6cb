export { captureInto, type CaptureOutcome, type OfferedCase, type TargetSet } from './capture-into.js';
export { advanceSet, lockSets } from './set-version.js';
