import { agentsSpans, isAgentsExport } from './openai-agents.js';
import type { ExportedSpan } from './exported-span.js';
import { isLangfuseExport, langfuseSpans } from './langfuse.js';

export { type ExportedSpan } from './exported-span.js';

/** Exports of traces that are not OTLP. */
export type ExportKind = 'openai-agents' | 'langfuse';

/** Which export a value of a JSON file is, told by its fields; undefined when it is none. */
export function recogniseExport(value: unknown): ExportKind | undefined {
  if (isAgentsExport(value)) return 'openai-agents';
  return isLangfuseExport(value) ? 'langfuse' : undefined;
}

/** Its spans, to be normalised as spans that came over OTLP. */
export function exportedSpans(value: unknown, kind: ExportKind): ExportedSpan[] {
  return kind === 'openai-agents' ? agentsSpans(value) : langfuseSpans(value);
}
