import type { ReceivedSpan } from '#contracts';
import type { Dialect, Reader } from '../dialect.js';
import { isRecord, member } from '../json-value.js';
import { json, messages, text } from '../readers.js';
import type { SpanView } from '../span-view.js';

const KINDS: ReadonlyMap<unknown, ReceivedSpan['kind']> = new Map([
  ['model', 'LLM'],
  ['tool', 'TOOL'],
  ['agent', 'AGENT'],
  ['flow', 'CHAIN'],
  ['prompt', 'CHAIN'],
  ['util', 'CHAIN'],
  ['retriever', 'RETRIEVER'],
  ['reranker', 'RETRIEVER'],
  ['indexer', 'OTHER'],
  ['evaluator', 'CHAIN'],
  ['embedder', 'EMBEDDING'],
]);

/** Genkit: `genkit:*`, with what every action took and gave as JSON. A model's name is `provider/model`. */
export const genkit: Dialect = {
  name: 'genkit',
  speaks: (span) => span.has('genkit:type') || span.scope === 'genkit-tracer',
  fields: {
    kind: [(span) => KINDS.get(subtype(span)) ?? (span.has('genkit:type') ? 'CHAIN' : undefined)],
    name: [(span) => (subtype(span) === 'tool' ? text('genkit:name')(span) : undefined)],
    input: [ofModels(messages(said('genkit:input', 'messages'), 'user')), json('genkit:input')],
    output: [ofModels(messages(said('genkit:output', 'message'), 'assistant')), json('genkit:output')],
    model: [ofModels(text('genkit:name'))],
    usage: [usage],
    session: [text('genkit:sessionId'), text('genkit:metadata:sessionId')],
  },
};

function subtype(span: SpanView): string | undefined {
  return text('genkit:metadata:subtype')(span);
}

function ofModels<T>(reader: Reader<T>): Reader<T> {
  return (span) => (subtype(span) === 'model' ? reader(span) : undefined);
}

/** A model's messages: `{ role, content: [{ text } | { toolRequest } | { toolResponse } | ...] }`. */
function said(key: string, name: 'messages' | 'message'): Reader<unknown> {
  return (span) => {
    const value = json(key)(span);
    return isRecord(value) ? [member(value, name) ?? []].flat().map(withKnownParts) : value;
  };
}

function withKnownParts(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const parts = member(message, 'content');
  return { ...message, content: Array.isArray(parts) ? parts.map(toKnownPart) : parts };
}

function toKnownPart(part: unknown): unknown {
  if (!isRecord(part)) return part;
  const request = member(part, 'toolRequest');
  if (isRecord(request)) return { type: 'tool_call', id: request['ref'], name: request['name'], arguments: request['input'] };
  const response = member(part, 'toolResponse');
  if (isRecord(response)) return { ...response, type: 'tool_call_response', id: response['ref'] };
  const words = member(part, 'text');
  // A structured answer is text that was parsed.
  return isRecord(words) || Array.isArray(words) ? { ...part, text: JSON.stringify(words) } : part;
}

function usage(span: SpanView) {
  const output = subtype(span) === 'model' ? json('genkit:output')(span) : undefined;
  const counts = isRecord(output) ? member(output, 'usage') : undefined;
  if (!isRecord(counts)) return undefined;
  const of = (name: string): number | null => {
    const count = member(counts, name);
    return typeof count === 'number' ? count : null;
  };
  return {
    input_tokens: of('inputTokens'),
    output_tokens: of('outputTokens'),
    total_tokens: of('totalTokens'),
    ...(member(counts, 'thoughtsTokens') === undefined ? {} : { reasoning_output_tokens: of('thoughtsTokens') }),
  };
}
