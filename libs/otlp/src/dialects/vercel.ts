import type { ReceivedSpan } from '#contracts';
import type { Agent, Dialect, Reader } from '../dialect.js';
import { json, messages, raw, text, tools, usage } from '../readers.js';
import type { SpanView } from '../span-view.js';

/** The model call inside an operation: `ai.generateText.doGenerate`, `ai.streamObject.doStream`. */
const MODEL_CALL = /^ai\.(?:generate|stream)(?:Text|Object)\.do(?:Generate|Stream)$/;
const OPERATION = /^ai\.(?:generate|stream)(?:Text|Object)$/;
const EMBEDDING = /^ai\.embed(?:Many)?\.doEmbed$/;

/**
 * The AI SDK, versions 3 to 6, and 7 with its legacy integration: `ai.*`. An operation (`ai.generateText`) is the agent; each of its
 * steps is a model call, each tool call a span. Version 7 speaks the GenAI conventions and is read as these.
 */
export const vercel: Dialect = {
  name: 'vercel-ai',
  speaks: (span) =>
    span.scope === 'ai' || span.has('ai.operationId') || span.hasFamily('ai.telemetry') || span.hasFamily('ai.settings'),
  fields: {
    kind: [kind],
    name: [text('ai.toolCall.name')],
    input: [raw('ai.toolCall.args'), messages(json('ai.prompt.messages'), 'user'), messages(json('ai.prompt'), 'user')],
    output: [
      json('ai.toolCall.result'),
      messages(answer('ai.response'), 'assistant'),
      messages(answer('ai.result'), 'assistant'),
    ],
    model: [text('ai.response.model'), text('ai.model.id')],
    usage: [
      usage({
        input_tokens: ['ai.usage.inputTokens', 'ai.usage.promptTokens', 'gen_ai.usage.input_tokens'],
        output_tokens: ['ai.usage.outputTokens', 'ai.usage.completionTokens', 'gen_ai.usage.output_tokens'],
        total_tokens: ['ai.usage.totalTokens', 'ai.usage.tokens'],
        cache_read_input_tokens: ['ai.usage.cachedInputTokens', 'ai.usage.inputTokenDetails.cacheReadTokens'],
        cache_creation_input_tokens: ['ai.usage.inputTokenDetails.cacheWriteTokens'],
        reasoning_output_tokens: ['ai.usage.reasoningTokens', 'ai.usage.outputTokenDetails.reasoningTokens'],
      }),
    ],
    tools: [tools(json('ai.prompt.tools'))],
    callId: [text('ai.toolCall.id')],
    responseId: [text('ai.response.id')],
    agent: [agent],
    // Version 7 puts its runtime context here, if asked to.
    session: [text('ai.settings.context.sessionId')],
  },
};

function kind(span: SpanView): ReceivedSpan['kind'] | undefined {
  const operation = operationOf(span);
  if (MODEL_CALL.test(operation)) return 'LLM';
  if (operation === 'ai.toolCall') return 'TOOL';
  if (OPERATION.test(operation)) return 'AGENT';
  if (EMBEDDING.test(operation)) return 'EMBEDDING';
  if (operation.startsWith('ai.')) return 'CHAIN';
  return span.has('ai.prompt.messages') ? 'LLM' : undefined;
}

/** `operation.name` is the operation and, after a space, the function's id. */
function operationOf(span: SpanView): string {
  const said = text('ai.operationId')(span) ?? text('operation.name')(span)?.split(' ', 1)[0] ?? '';
  return said === '' || said.startsWith('ai.') ? said : `ai.${said}`;
}

/** Words, calls and a structured result stand in attributes of their own. */
function answer(prefix: 'ai.response' | 'ai.result'): Reader<unknown> {
  return (span) => {
    const words = span.attribute(`${prefix}.text`) ?? span.attribute(`${prefix}.object`);
    const calls = json(`${prefix}.toolCalls`)(span);
    if (words === undefined && !Array.isArray(calls)) return undefined;
    // As a part: words that look like JSON are the answer all the same, and must not be read as messages.
    const content = words === undefined || words === '' ? [] : [{ type: 'text', text: words }];
    return { role: 'assistant', content, ...(Array.isArray(calls) ? { tool_calls: calls } : {}) };
  };
}

function agent(span: SpanView): Agent | undefined {
  const id = text('ai.telemetry.functionId')(span);
  return id === undefined ? undefined : { id, version: null, model: null };
}
