import type { ReceivedSpan } from '#contracts';
import type { Dialect, Reader, TokenUsage } from '../dialect.js';
import { isRecord, member } from '../json-value.js';
import { json, messages, text, tools } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { once } from './framework-once.js';

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

const input = once(json('genkit:input'));
const output = once(json('genkit:output'));

/** Genkit: `genkit:*`, with what every action took and gave as JSON. A model's name is `provider/model`. */
export const genkit: Dialect = {
  name: 'genkit',
  speaks: (span) => span.has('genkit:type') || span.scope === 'genkit-tracer',
  fields: {
    kind: [(span) => KINDS.get(subtype(span)) ?? (span.has('genkit:type') ? 'CHAIN' : undefined)],
    name: [(span) => (subtype(span) === 'tool' ? text('genkit:name')(span) : undefined)],
    input: [ofModels(messages(said(input, 'messages'), 'user')), input],
    output: [ofModels(messages(said(output, 'message'), 'assistant')), output],
    model: [ofModels(text('genkit:name'))],
    usage: [usage],
    tools: [ofModels(tools(requested))],
    session: [text('genkit:sessionId'), text('genkit:metadata:sessionId')],
  },
};

function subtype(span: SpanView): string | undefined {
  return text('genkit:metadata:subtype')(span);
}

function ofModels<T>(reader: Reader<T>): Reader<T> {
  return (span) => (subtype(span) === 'model' ? reader(span) : undefined);
}

function requested(span: SpanView): unknown {
  const request = input(span);
  return isRecord(request) ? member(request, 'tools') : undefined;
}

/** A model's messages: `{ role, content: [{ text } | { toolRequest } | { toolResponse } | ...] }`. */
function said(reader: Reader<unknown>, name: 'messages' | 'message'): Reader<unknown> {
  return (span) => {
    const value = reader(span);
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

const COUNTS = [
  ['input_tokens', 'inputTokens'],
  ['output_tokens', 'outputTokens'],
  ['total_tokens', 'totalTokens'],
  ['reasoning_output_tokens', 'thoughtsTokens'],
] as const;

function usage(span: SpanView): TokenUsage | undefined {
  const answer = subtype(span) === 'model' ? output(span) : undefined;
  const counts = isRecord(answer) ? member(answer, 'usage') : undefined;
  if (!isRecord(counts)) return undefined;
  const found = COUNTS.map(([name, key]) => [name, member(counts, key)] as const);
  return Object.fromEntries(found.filter((pair): pair is readonly [(typeof pair)[0], number] => typeof pair[1] === 'number'));
}
