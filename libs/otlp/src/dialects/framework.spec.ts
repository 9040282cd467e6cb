import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../dialect.js';
import { readBy, spanOf } from './framework-fixture.js';
import { genkit } from './framework-genkit.js';
import { googleAdk } from './framework-google-adk.js';
import { googleGenai } from './framework-google-genai.js';
import { frameworks } from './framework.js';
import { mlflow } from './mlflow.js';
import { openaiAgents } from './openai-agents.js';
import { vercel } from './vercel.js';

const json = JSON.stringify;
const call = { id: 'call_1', name: 'get_weather', arguments: { city: 'Tokyo' } };
const asked = { messages: [{ role: 'user', content: 'Weather?' }] };
const answered = { messages: [{ role: 'assistant', content: 'Sunny.' }] };
const called = { messages: [{ role: 'assistant', content: '', tool_calls: [call] }] };

interface Case {
  readonly says: string;
  readonly dialect: Dialect;
  readonly attributes: Parameters<typeof spanOf>[0];
  readonly more?: Parameters<typeof spanOf>[1];
  readonly expected: object;
}

const cases: readonly Case[] = [
  {
    says: 'AI SDK 4: a model call that asks for a tool',
    dialect: vercel,
    attributes: {
      'ai.operationId': 'ai.generateText.doGenerate',
      'ai.prompt.messages': json(asked.messages),
      'ai.prompt.tools': [json({ type: 'function', name: 'get_weather', parameters: { type: 'object' } })],
      'ai.response.toolCalls': json([
        { toolCallType: 'function', toolCallId: 'call_1', toolName: 'get_weather', args: call.arguments },
      ]),
      'ai.usage.promptTokens': 10,
      'ai.usage.completionTokens': 5,
      'ai.model.id': 'gpt-4o',
      'ai.telemetry.functionId': 'weather',
    },
    expected: {
      kind: 'LLM',
      input: asked,
      output: called,
      model: 'gpt-4o',
      usage: { input_tokens: 10, output_tokens: 5 },
      tools: [{ name: 'get_weather', parameters: { type: 'object' } }],
      agent: { id: 'weather', version: null, model: null },
    },
  },
  {
    says: 'AI SDK 6: an operation is the agent, and text that looks like JSON is its answer all the same',
    dialect: vercel,
    attributes: {
      'operation.name': 'ai.streamText weather',
      'ai.operationId': 'ai.streamText',
      'ai.prompt': json({ system: 'Be nice.', messages: asked.messages }),
      'ai.response.text': '{"messages":[]}',
    },
    expected: {
      kind: 'AGENT',
      input: { messages: [{ role: 'system', content: 'Be nice.' }, ...asked.messages] },
      output: { messages: [{ role: 'assistant', content: '{"messages":[]}' }] },
    },
  },
  {
    says: 'AI SDK: a tool call',
    dialect: vercel,
    attributes: {
      'ai.operationId': 'ai.toolCall',
      'ai.toolCall.name': 'get_weather',
      'ai.toolCall.id': 'call_1',
      'ai.toolCall.args': '{"city":',
      'ai.toolCall.result': '"sunny"',
    },
    expected: { kind: 'TOOL', name: 'get_weather', callId: 'call_1', input: '{"city":', output: 'sunny' },
  },
  {
    says: 'AI SDK 3: the answer under its older name',
    dialect: vercel,
    attributes: { 'ai.operationId': 'ai.generateText.doGenerate', 'ai.result.text': 'Sunny.' },
    expected: { kind: 'LLM', output: answered },
  },
  {
    says: 'AI SDK: an embedding',
    dialect: vercel,
    attributes: { 'ai.operationId': 'ai.embedMany.doEmbed' },
    expected: { kind: 'EMBEDDING' },
  },
  {
    says: 'MLflow: a chat model, its attributes JSON with quotes',
    dialect: mlflow,
    attributes: {
      'mlflow.spanType': '"CHAT_MODEL"',
      'mlflow.spanInputs': json({ model: 'gpt-4o', messages: asked.messages }),
      'mlflow.spanOutputs': json({ id: 'x', choices: [{ index: 0, message: answered.messages[0] }] }),
      'mlflow.llm.model': '"gpt-4o"',
      'mlflow.chat.tools': json([{ type: 'function', function: { name: 'get_weather' } }]),
      'mlflow.chat.tokenUsage': json({ input_tokens: 10, output_tokens: 5, total_tokens: 15 }),
    },
    expected: {
      kind: 'LLM',
      input: asked,
      output: answered,
      model: 'gpt-4o',
      tools: [{ name: 'get_weather' }],
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
    },
  },
  {
    says: 'MLflow: a tool',
    dialect: mlflow,
    attributes: { 'mlflow.spanType': '"TOOL"', 'mlflow.spanInputs': json(call.arguments), 'mlflow.spanOutputs': '"sunny"' },
    expected: { kind: 'TOOL', input: call.arguments, output: 'sunny' },
  },
  {
    says: "ADK: a model call in Gemini's words, what tools answered among the user's contents",
    dialect: googleAdk,
    attributes: {
      'gcp.vertex.agent.session_id': 's1',
      'gcp.vertex.agent.llm_request': json({
        config: { system_instruction: 'Be nice.', tools: [{ function_declarations: [{ name: 'get_weather' }] }] },
        contents: [
          { role: 'user', parts: [{ text: 'Weather?' }] },
          { role: 'model', parts: [{ function_call: { id: 'call_1', name: 'get_weather', args: call.arguments } }] },
          { role: 'user', parts: [{ function_response: { id: 'call_1', name: 'get_weather', response: { sky: 'sunny' } } }] },
        ],
      }),
      'gcp.vertex.agent.llm_response': json({ content: { role: 'model', parts: [{ text: 'Sunny.' }] }, finish_reason: 'STOP' }),
    },
    more: { name: 'call_llm' },
    expected: {
      kind: 'LLM',
      session: 's1',
      tools: [{ name: 'get_weather' }],
      input: {
        messages: [
          { role: 'system', content: 'Be nice.' },
          ...asked.messages,
          ...called.messages,
          { role: 'tool', content: '{"sky":"sunny"}', tool_call_id: 'call_1', name: 'get_weather' },
        ],
      },
      output: answered,
    },
  },
  {
    says: 'ADK: a tool, beside the empty request that it writes on every span',
    dialect: googleAdk,
    attributes: {
      'gen_ai.tool.name': 'get_weather',
      'gcp.vertex.agent.tool_call_args': '{"city":"Tokyo"}',
      'gcp.vertex.agent.tool_response': '<not serializable>',
      'gcp.vertex.agent.llm_request': '{}',
    },
    expected: { input: call.arguments },
  },
  {
    says: 'Google GenAI: the arguments of a tool one by one',
    dialect: googleGenai,
    attributes: {
      'gen_ai.tool.name': 'get_weather',
      'code.function.parameters.city.type': 'str',
      'code.function.parameters.city.value': 'Tokyo',
      'code.function.return.value': 'sunny',
    },
    expected: { input: { city: 'Tokyo' }, output: 'sunny' },
  },
  {
    says: 'Genkit: a model that asks for a tool, and a structured answer is text that was parsed',
    dialect: genkit,
    attributes: {
      'genkit:type': 'action',
      'genkit:name': 'openai/gpt-4o',
      'genkit:metadata:subtype': 'model',
      'genkit:input': json({
        messages: [{ role: 'user', content: [{ text: 'Weather?' }] }],
        tools: [{ name: 'get_weather', inputSchema: { type: 'object' }, outputSchema: { type: 'string' } }],
      }),
      'genkit:output': json({
        message: {
          role: 'model',
          content: [{ text: { sky: 'sunny' } }, { toolRequest: { ref: 'call_1', name: 'get_weather', input: call.arguments } }],
        },
      }),
    },
    expected: {
      kind: 'LLM',
      model: 'openai/gpt-4o',
      tools: [{ name: 'get_weather', parameters: { type: 'object' } }],
      input: asked,
      output: { messages: [{ role: 'assistant', content: '{"sky":"sunny"}', tool_calls: [call] }] },
    },
  },
  {
    says: 'OpenAI Agents: a generation, its answers a list',
    dialect: openaiAgents,
    attributes: {
      'openai_agents.type': 'generation',
      'openai_agents.input': asked.messages,
      'openai_agents.output': [
        {
          id: 'chatcmpl-1',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Sunny.' } }],
          usage: { prompt_tokens: 10, completion_tokens: 5 },
        },
      ],
      'openai_agents.group_id': 's1',
    },
    expected: {
      kind: 'LLM',
      input: asked,
      output: answered,
      responseId: 'chatcmpl-1',
      usage: { input_tokens: 10, output_tokens: 5 },
      session: 's1',
    },
  },
  {
    says: 'OpenAI Agents: an agent names its tools, without what they take',
    dialect: openaiAgents,
    attributes: { 'openai_agents.type': 'agent', 'openai_agents.tools': ['get_weather'] },
    more: { name: 'Weather' },
    expected: { kind: 'AGENT', tools: [{ name: 'get_weather' }], agent: { id: 'Weather', version: null, model: null } },
  },
  {
    says: 'OpenAI Agents: a function that failed',
    dialect: openaiAgents,
    attributes: {
      'openai_agents.type': 'function',
      'openai_agents.input': '{"city":"Tokyo"}',
      'openai_agents.output': 'Error',
      'openai_agents.error': { message: 'no such city' },
    },
    expected: { kind: 'TOOL', input: '{"city":"Tokyo"}', output: 'Error', error: { message: 'no such city' } },
  },
];

describe('what each framework says', () => {
  it.each(cases)('$says', ({ dialect, attributes, more, expected }) => {
    expect(readBy(dialect, spanOf(attributes, more))).toEqual(expected);
  });

  it('a span of nobody is none of theirs', () => {
    for (const dialect of frameworks)
      expect([dialect.name, readBy(dialect, spanOf({ 'http.method': 'GET' }))]).toEqual([dialect.name, undefined]);
  });

  it('attributes of any type and depth break none of them', () => {
    const names = cases.flatMap(({ attributes }) => Object.keys(attributes));
    for (const value of [null, 0, true, '', '{', '[]', '{}', '[null]', [], [null], { a: [{}] }, 'x'.repeat(1000)]) {
      const span = spanOf(Object.fromEntries(names.map((name) => [name, value])));
      for (const dialect of frameworks) expect(() => readBy(dialect, span)).not.toThrow();
    }
  });
});
