import type { Dialect } from '../dialect.js';
import { frameworks } from './framework.js';
import { langsmith } from './langsmith.js';
import { openinference } from './openinference.js';
import { openlit } from './openlit.js';
import { otelGenai } from './otel-genai.js';
import { traceloop } from './traceloop.js';

export { plain } from './plain.js';

/**
 * In the order they are asked. A span may speak several (most libraries add `gen_ai.*` to their own words), and for each field the
 * first that answers counts: hence the richest and most particular first, the general conventions last. `plain` follows them all.
 */
export const dialects: readonly Dialect[] = [...frameworks, langsmith, openinference, traceloop, openlit, otelGenai];
