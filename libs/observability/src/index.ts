export { createLogger, PinoLogger } from './logger.js';
export { Health, type HealthChange } from './health.js';
export { Metrics } from './metrics.js';
