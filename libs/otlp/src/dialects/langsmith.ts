import type { Dialect, Reader } from '../dialect.js';
import { isRecord, member } from '../json-value.js';
import { json, kindFrom, messages, text, tools } from '../readers.js';
import type { SpanView } from '../span-view.js';

/** LangSmith's own OpenTelemetry export: `langsmith.*`, with input and output as one JSON text in `gen_ai.prompt` and `gen_ai.completion`. */
export const langsmith: Dialect = {
  name: 'langsmith',
  speaks: (span) => span.hasFamily('langsmith'),
  fields: {
    kind: [
      kindFrom('langsmith.span.kind', {
        llm: 'LLM',
        tool: 'TOOL',
        chain: 'CHAIN',
        retriever: 'RETRIEVER',
        embedding: 'EMBEDDING',
        prompt: 'CHAIN',
        parser: 'CHAIN',
      }),
    ],
    input: [ofModels(messages(json('gen_ai.prompt'), 'user')), ofOthers(wrapped('gen_ai.prompt', 'inputs'))],
    output: [ofModels(messages(json('gen_ai.completion'), 'assistant')), ofOthers(wrapped('gen_ai.completion', 'outputs'))],
    model: [text('gen_ai.response.model'), text('gen_ai.request.model'), text('langsmith.metadata.ls_model_name')],
    tools: [tools((span) => memberOf(json('gen_ai.prompt')(span), 'tools'))],
  },
  repeats: ['langsmith.usage_metadata', 'langsmith.metadata.usage_metadata'],
};

function ofModels<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isModelCall(span) ? reader(span) : undefined);
}

function ofOthers<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isModelCall(span) || !span.has('langsmith.span.kind') ? undefined : reader(span));
}

function isModelCall(span: SpanView): boolean {
  return span.peek('langsmith.span.kind') === 'llm';
}

/** A function's plain argument or result is wrapped in an object of one member. */
function wrapped(key: string, name: string): Reader<unknown> {
  return (span) => {
    const value = json(key)(span);
    return isRecord(value) && Object.keys(value).length === 1 ? (member(value, name) ?? value) : value;
  };
}

function memberOf(value: unknown, key: string): unknown {
  return isRecord(value) ? member(value, key) : undefined;
}
