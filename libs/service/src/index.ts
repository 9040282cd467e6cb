export { openRuntime, ServiceRuntime } from './runtime.js';
export { runService, startService, type RunningService } from './run.js';
export { provision, type ProvisionOptions } from './provision.js';
export { everySecond, type Repetition } from './every-second.js';
