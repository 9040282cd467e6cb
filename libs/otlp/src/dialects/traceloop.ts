import type { Dialect, Reader } from '../dialect.js';
import { firstMember, fromJsonText, isRecord, member } from '../json-value.js';
import { kindFrom, text, tools, tree, usage } from '../readers.js';
import type { SpanView } from '../span-view.js';

/**
 * OpenLLMetry: `traceloop.*` for workflows, agents and tools; model calls in the words of the GenAI conventions of their day, which
 * otel-genai reads.
 */
export const traceloop: Dialect = {
  name: 'traceloop',
  speaks: (span) =>
    span.hasFamily('traceloop') ||
    span.scope.startsWith('@traceloop/') ||
    span.has('llm.request.type') ||
    span.hasFamily('llm.request.functions'),
  fields: {
    kind: [
      // A tool or a model call of the LangChain instrumentation is a `task`: the operation says more.
      kindFrom('gen_ai.operation.name', { chat: 'LLM', execute_tool: 'TOOL', invoke_agent: 'AGENT' }),
      kindFrom('traceloop.span.kind', { tool: 'TOOL', agent: 'AGENT', workflow: 'CHAIN', task: 'CHAIN' }),
      kindFrom('llm.request.type', { chat: 'LLM', completion: 'LLM', embedding: 'EMBEDDING', rerank: 'RETRIEVER' }),
    ],
    name: [ofTools(text('traceloop.entity.name'))],
    input: [ofTools(toolArguments), entity('input')],
    output: [entity('output')],
    usage: [
      usage({
        input_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.usage.prompt_tokens'],
        output_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.usage.completion_tokens'],
        total_tokens: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens'],
        cache_read_input_tokens: ['gen_ai.usage.cache_read_input_tokens'],
      }),
    ],
    tools: [tools(tree('llm.request.functions.'))],
    agent: [
      (span) => {
        const id = text('gen_ai.agent.name')(span) ?? (isKind(span, 'agent') ? text('traceloop.entity.name')(span) : undefined);
        return id === undefined ? undefined : { id, version: null, model: null };
      },
    ],
  },
};

function isKind(span: SpanView, kind: string): boolean {
  return span.peek('traceloop.span.kind') === kind;
}

function ofTools<T>(reader: Reader<T>): Reader<T> {
  return (span) => (isKind(span, 'tool') || span.peek('gen_ai.operation.name') === 'execute_tool' ? reader(span) : undefined);
}

/** What a decorated function was given or gave: in Python under `inputs` or `outputs`, beside the framework's own arguments. */
function entity(side: 'input' | 'output'): Reader<unknown> {
  return (span) => {
    const value = fromJsonText(span.attribute(`traceloop.entity.${side}`));
    return isRecord(value) ? (member(value, `${side}s`) ?? value) : value;
  };
}

/** `{ args: ['{"user_id":…}'] }`, `{ args: [], kwargs: {…} }`, `{ inputs: {…} }` or `{ input_str: "{'user_id': …}" }`. */
function toolArguments(span: SpanView): unknown {
  const value = entity('input')(span);
  if (!isRecord(value)) return value;
  const args = member(value, 'args');
  if (Array.isArray(args) && args.length === 1) return args[0] as unknown;
  const kwargs = member(value, 'kwargs');
  if (Array.isArray(args) && args.length === 0 && isRecord(kwargs)) return kwargs;
  return firstMember(value, ['input_str']) ?? value;
}
