import type { ReceivedSpan } from '#contracts';
import type { Agent, Dialect } from '../dialect.js';
import { json, kindFrom, messages, raw, text, tools, tree, usage } from '../readers.js';
import type { Conversation } from '../messages.js';
import type { SpanView } from '../span-view.js';
import { eventContent } from './gen-ai-events.js';

const OPERATIONS: Readonly<Record<string, ReceivedSpan['kind']>> = {
  chat: 'LLM',
  text_completion: 'LLM',
  completion: 'LLM',
  generate_content: 'LLM',
  embeddings: 'EMBEDDING',
  execute_tool: 'TOOL',
  invoke_agent: 'AGENT',
  create_agent: 'AGENT',
  invoke_workflow: 'CHAIN',
  workflow: 'CHAIN',
  retrieval: 'RETRIEVER',
};

/**
 * The GenAI semantic conventions of OpenTelemetry, new names first: messages as JSON (`gen_ai.input.messages`), as events on the
 * span, and as numbered attributes (`gen_ai.prompt.0.content`, before v1.28).
 */
export const otelGenai: Dialect = {
  name: 'otel-genai',
  speaks: (span) => span.hasFamily('gen_ai') || span.events.some(({ name }) => name.startsWith('gen_ai.')),
  fields: {
    kind: [kindFrom('gen_ai.operation.name', OPERATIONS), byWhatItHas],
    name: [toolName],
    input: [
      raw('gen_ai.tool.call.arguments'),
      inputMessages,
      eventContent('input'),
      messages(tree('gen_ai.prompt.'), 'user'),
      messages(json('gen_ai.prompt'), 'user'),
    ],
    output: [
      json('gen_ai.tool.call.result'),
      messages(json('gen_ai.output.messages'), 'assistant'),
      eventContent('output'),
      messages(tree('gen_ai.completion.'), 'assistant'),
      messages(json('gen_ai.completion'), 'assistant'),
    ],
    model: [text('gen_ai.response.model'), text('gen_ai.request.model')],
    usage: [
      usage({
        input_tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
        output_tokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
        total_tokens: ['gen_ai.usage.total_tokens', 'llm.usage.total_tokens'],
        cache_read_input_tokens: [
          'gen_ai.usage.cache_read.input_tokens',
          'gen_ai.usage.cache_read_input_tokens',
          'gen_ai.usage.input_cached_tokens',
        ],
        cache_creation_input_tokens: [
          'gen_ai.usage.cache_creation.input_tokens',
          'gen_ai.usage.cache_creation_input_tokens',
          'gen_ai.usage.input_cache_creation',
        ],
        reasoning_output_tokens: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_output_tokens'],
      }),
    ],
    tools: [tools(json('gen_ai.tool.definitions')), tools(json('gen_ai.request.tools'))],
    callId: [text('gen_ai.tool.call.id')],
    responseId: [text('gen_ai.response.id')],
    agent: [agent],
  },
};

/** Libraries that leave out the operation still say the tool, the agent or the model. */
function byWhatItHas(span: SpanView): ReceivedSpan['kind'] | undefined {
  if (span.has('gen_ai.tool.name') || span.has('gen_ai.tool.call.id')) return 'TOOL';
  if (span.has('gen_ai.request.model') || span.has('gen_ai.response.model')) return 'LLM';
  return span.has('gen_ai.agent.name') ? 'AGENT' : undefined;
}

function toolName(span: SpanView): string | undefined {
  return text('gen_ai.tool.name')(span) ?? /^execute_tool (.+)$/.exec(span.name)?.[1];
}

/** The system's instructions stand in an attribute of their own; some repeat them among the messages. */
function inputMessages(span: SpanView): Conversation | undefined {
  const found = messages(json('gen_ai.input.messages'), 'user')(span);
  const system = messages(json('gen_ai.system_instructions'), 'user')(span);
  if (found === undefined || system === undefined || found.messages.some(({ role }) => role === 'system')) return found;
  return { messages: [...system.messages.map((message) => ({ ...message, role: 'system' })), ...found.messages] };
}

function agent(span: SpanView): Agent | undefined {
  const id = text('gen_ai.agent.name')(span) ?? text('gen_ai.agent.id')(span);
  return id === undefined ? undefined : { id, version: text('gen_ai.agent.version')(span) ?? null, model: null };
}
