import type { Span, Trace } from '#contracts';
import { hasFailed, requestText } from '#domain/checks';
import { newMessages, REPEATED_MIN, shownAbove, wordsOf, type Shown } from './messages.js';
import { plainName, plainValue } from './plain-text.js';

/** What a step took in, gave out or failed with. */
export interface Body {
  readonly name: 'input' | 'output' | 'error';
  readonly text: string;
}

/** One span as a judge sees it: no ids, no times, no token counts. */
export interface Step {
  readonly label: string;
  readonly failed: boolean;
  readonly bodies: readonly Body[];
}

/**
 * The spans of a trace in the order they started (as recorded where one has no start time), each once. A text that
 * `above` holds or that came before is left out. With `callIds`, tool calls carry theirs.
 */
export function stepsOf(trace: Trace, above: readonly string[], callIds?: ReadonlyMap<string, string>): Step[] {
  const seen = new Set(above.filter((text) => text !== ''));
  const shown = shownAbove(requestText(trace), trace);
  return ordered(trace).map((span) => {
    const bodies = bodiesOf(span, shown).map((body) => once(body, seen));
    return { label: labelOf(span, callIds), failed: hasFailed(span), bodies: bodies.filter(({ text }) => text !== '') };
  });
}

function ordered(trace: Trace): Span[] {
  const byId = new Map<string, Span>();
  for (const span of trace.spans) {
    const known = byId.get(span.span_id);
    // Of two deliveries of one span the one that says more counts.
    if (known === undefined || (!hasFailed(known) && (hasFailed(span) || known.output === undefined)))
      byId.set(span.span_id, span);
  }
  const spans = [...byId.values()];
  if (spans.some((span) => span.started_at === undefined)) return spans;
  return spans.sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0));
}

function labelOf(span: Span, callIds: ReadonlyMap<string, string> | undefined): string {
  const id = callIds?.get(span.span_id);
  const parts = [span.kind, plainName(span.name), id === undefined ? '' : `[${id}]`, hasFailed(span) ? '(failed)' : ''];
  return parts.filter((part) => part !== '').join(' ');
}

function bodiesOf(span: Span, shown: Shown): Body[] {
  // The input of an embedding was said elsewhere, and its output is numbers.
  if (span.kind === 'EMBEDDING') return [errorOf(span)];
  return [{ name: 'input', text: inputOf(span, shown) }, { name: 'output', text: outputOf(span, shown) }, errorOf(span)];
}

function inputOf(span: Span, shown: Shown): string {
  if (span.kind === 'TOOL' || span.kind === 'RETRIEVER') return plainValue(span.input);
  const messages = newMessages(span.input, shown);
  if (messages !== undefined) return messages;
  return span.kind === 'LLM' ? wordsOf(span.input, shown) : plainValue(span.input);
}

function outputOf(span: Span, shown: Shown): string {
  if (span.kind === 'LLM') return wordsOf(span.output, shown);
  if (span.kind === 'TOOL' || span.kind === 'RETRIEVER') return plainValue(span.output);
  return newMessages(span.output, shown) ?? plainValue(span.output);
}

function errorOf(span: Span): Body {
  return { name: 'error', text: typeof span.error === 'boolean' ? '' : plainValue(span.error) };
}

function once(body: Body, seen: Set<string>): Body {
  if (seen.has(body.text)) return { ...body, text: body.text.length >= REPEATED_MIN ? '(the same text as above)' : body.text };
  if (body.text.length >= REPEATED_MIN) seen.add(body.text);
  return body;
}
