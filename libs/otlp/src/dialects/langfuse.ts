import type { Tool } from '#contracts';
import type { Agent, Dialect, Reader, TokenUsage } from '../dialect.js';
import { firstMember, fromJsonText, isRecord, member } from '../json-value.js';
import { json, kindFrom, messages, text } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { toTools } from '../to-tools.js';
import { once } from './framework-once.js';
import {
  argumentsOf,
  fromRoleLines,
  isRoleLines,
  NONE,
  toolDefinitions,
  toolResult,
  withoutDefinitions,
} from './langfuse-values.js';

const input = once(json('langfuse.observation.input'));
const output = once((span) => {
  const value = json('langfuse.observation.output')(span);
  return value === NONE && isRoleLines(span.peek('langfuse.observation.input')) ? undefined : value;
});

/**
 * The Langfuse SDKs: `langfuse.observation.*`. `span`, their word for whatever has no better one, is no answer, so that other dialects of
 * the same span may say what it is.
 */
export const langfuse: Dialect = {
  name: 'langfuse',
  speaks: (span) => span.hasFamily('langfuse') || span.scope === 'langfuse-sdk',
  fields: {
    kind: [
      // Their LangChain handler calls tools spans; what a tool message is, is not.
      (span) => (toolResult(output(span)) === undefined ? undefined : 'TOOL'),
      kindFrom('langfuse.observation.type', {
        generation: 'LLM',
        tool: 'TOOL',
        agent: 'AGENT',
        chain: 'CHAIN',
        retriever: 'RETRIEVER',
        embedding: 'EMBEDDING',
        evaluator: 'CHAIN',
        guardrail: 'CHAIN',
        event: 'OTHER',
      }),
      (span) => (span.has('langfuse.observation.model.name') ? 'LLM' : undefined),
    ],
    input: [
      ofModelCalls(messages((span) => fromRoleLines(withoutDefinitions(input(span))), 'user')),
      ofTools((span) => argumentsOf(span.attribute('langfuse.observation.input'))),
      input,
      ofRoots(json('langfuse.trace.input')),
    ],
    output: [
      ofModelCalls(messages(output, 'assistant')),
      (span) => toolResult(output(span))?.content,
      output,
      ofRoots(json('langfuse.trace.output')),
    ],
    model: [text('langfuse.observation.model.name')],
    usage: [usage],
    tools: [requestTools],
    callId: [(span) => toolResult(output(span))?.callId],
    error: [error],
    agent: [agent],
    session: [
      text('langfuse.session.id'),
      text('session.id'),
      text('langfuse.trace.metadata.langfuse_session_id'),
      text('langfuse.observation.metadata.langfuse_session_id'),
      // LangGraph's.
      text('langfuse.observation.metadata.thread_id'),
    ],
  },
};

function isType(span: SpanView, type: string): boolean {
  return text('langfuse.observation.type')(span)?.toLowerCase() === type;
}

function ofModelCalls<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isType(span, 'generation') || span.has('langfuse.observation.model.name') ? reader(span) : undefined);
}

function ofTools<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isType(span, 'tool') || toolResult(output(span)) !== undefined ? reader(span) : undefined);
}

/** The trace's own input and output may stand on any of its spans; only its root may speak for it. */
function ofRoots<T>(reader: Reader<T>): Reader<T> {
  return (span) => (span.span.parentSpanId === null ? reader(span) : undefined);
}

const COUNTS: Readonly<Record<string, readonly string[]>> = {
  input_tokens: ['input', 'input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokens'],
  output_tokens: ['output', 'output_tokens', 'completion_tokens', 'outputTokens', 'completionTokens'],
  total_tokens: ['total', 'total_tokens', 'totalTokens'],
  cache_read_input_tokens: ['input_cached_tokens', 'cache_read_input_tokens'],
  cache_creation_input_tokens: ['input_cache_creation', 'cache_creation_input_tokens'],
  reasoning_output_tokens: ['output_reasoning_tokens'],
};

function usage(span: SpanView): TokenUsage | undefined {
  const details = json('langfuse.observation.usage_details')(span);
  if (!isRecord(details)) return undefined;
  const counts = Object.entries(COUNTS).map(([name, keys]) => [name, firstMember(details, keys)] as const);
  const found = counts.filter((pair): pair is readonly [string, number] => typeof pair[1] === 'number');
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Beside the messages in the request, or (LangChain) among them. */
function requestTools(span: SpanView): readonly Tool[] | undefined {
  const request = input(span);
  const listed = isRecord(request) ? fromJsonText(member(request, 'tools')) : undefined;
  const found = toTools(listed ?? toolDefinitions(request));
  return found.length === 0 ? undefined : found;
}

function error(span: SpanView): unknown {
  if (text('langfuse.observation.level')(span)?.toUpperCase() !== 'ERROR') return undefined;
  return { message: text('langfuse.observation.status_message')(span) ?? 'error' };
}

/** By its name, unless the type was made of a kind of OpenInference, where a workflow is called an agent too. */
function agent(span: SpanView): Agent | undefined {
  if (!isType(span, 'agent') || span.name === '' || span.has('openinference.span.kind')) return undefined;
  return { id: span.name, version: null, model: null };
}
