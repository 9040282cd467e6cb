import type { Dialect } from '../dialect.js';
import { openinference } from './openinference.js';
import { otelGenai } from './otel-genai.js';

export { plain } from './plain.js';

/**
 * In the order they are asked. A span may speak several (most libraries add `gen_ai.*` to their own words), and for each field the
 * first that answers counts: hence the richest and most particular first, the general conventions last. `plain` follows them all.
 */
export const dialects: readonly Dialect[] = [openinference, otelGenai];
