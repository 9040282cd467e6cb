import type { Span, Trace, TraceSignal } from '#contracts';
import { firstCodePoints } from '../text/index.js';
import { canonicalJson, isRecord } from './json.js';
import { hasFailed } from './tool-calls.js';

const ERROR_MAX = 500;
/** A model may call tools by any name it makes up; the signals of a thousand traces travel in one message. */
const NAME_MAX = 200;
const TOOLS_MAX = 20;

/**
 * What a trace shows that helps to recognise the same fault elsewhere: the tools that failed (sorted, distinct, at most
 * 20 names of 200 characters) and the first error text as recorded, at most 500 characters: of the earliest failed tool
 * call, else of any span.
 */
export function traceSignal(trace: Trace): TraceSignal {
  const failed = trace.spans.filter(hasFailed).sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0));
  const tools = failed.filter((span) => span.kind === 'TOOL');
  const names = [...new Set(tools.map((span) => firstCodePoints(span.name, NAME_MAX)))].sort();
  const error = firstError(tools) ?? firstError(failed);
  return { trace_id: trace.trace_id, failing_tools: names.slice(0, TOOLS_MAX), error: error ?? null };
}

function firstError(spans: readonly Span[]): string | undefined {
  for (const span of spans) {
    const text = errorText(span.error) ?? errorText(span.output);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A text, or the message of an error object, or the object as JSON. Code points, so that no character is cut in half. */
export function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null || error === '' || typeof error === 'boolean') return undefined;
  const text = typeof error === 'string' ? error : (messageOf(error) ?? canonicalJson(error) ?? '');
  return text === '' ? undefined : firstCodePoints(text, ERROR_MAX);
}

function messageOf(error: unknown): string | undefined {
  if (!isRecord(error)) return undefined;
  for (const key of ['message', 'error', 'type']) {
    const value = error[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return isRecord(error.error) ? messageOf(error.error) : undefined;
}
