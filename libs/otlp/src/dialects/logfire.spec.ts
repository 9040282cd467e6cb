import { describe, expect, it } from '@jest/globals';
import { readBy, spanOf } from './framework-fixture.js';
import { logfire } from './logfire.js';

const json = JSON.stringify;
const asked = { role: 'user', content: 'Weather?' };
const answered = { role: 'assistant', content: 'Sunny.' };
const span = (name: string, attributes: Parameters<typeof spanOf>[0]): ReturnType<typeof spanOf> =>
  spanOf({ 'logfire.msg': name, ...attributes }, { name });

describe('Pydantic AI', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Tokyo"}' } };

  it('format 1: the events of a call as one list', () => {
    const events = [
      { 'event.name': 'gen_ai.system.message', content: 'Be nice.', role: 'system' },
      { 'event.name': 'gen_ai.user.message', content: 'Weather?' },
      { 'event.name': 'gen_ai.choice', index: 0, message: { role: 'assistant', tool_calls: [call] } },
    ];
    expect(readBy(logfire, span('chat gpt-4o', { events: json(events) }))).toMatchObject({
      input: { messages: [{ role: 'system', content: 'Be nice.' }, asked] },
      output: {
        messages: [
          { role: 'assistant', content: '', tool_calls: [{ id: 'c1', name: 'get_weather', arguments: '{"city":"Tokyo"}' }] },
        ],
      },
    });
  });

  it('format 2: an agent with all its messages, its result and its tools', () => {
    const all = [
      { role: 'user', parts: [{ type: 'text', content: 'Weather?' }] },
      { role: 'assistant', parts: [{ type: 'text', content: 'Sunny.' }] },
    ];
    const attributes = {
      agent_name: 'weather',
      model_name: 'gpt-4o',
      'pydantic_ai.all_messages': json(all),
      'gen_ai.system_instructions': json([{ type: 'text', content: 'Be nice.' }]),
    };
    const expected = {
      kind: 'AGENT',
      model: 'gpt-4o',
      agent: { id: 'weather', version: null, model: null },
      input: { messages: [{ role: 'system', content: 'Be nice.' }, asked] },
    };
    expect(readBy(logfire, span('weather run', attributes))).toMatchObject({ ...expected, output: { messages: [answered] } });
    expect(readBy(logfire, span('weather run', { ...attributes, final_result: 'Rain.' }))).toMatchObject({
      ...expected,
      output: 'Rain.',
    });
  });

  it('a tool, and the catalogue in the parameters of a request', () => {
    const tool = { 'gen_ai.tool.name': 'get_weather', tool_arguments: '{"city":"Tokyo"}', tool_response: 'sunny' };
    expect(readBy(logfire, span('running tool', tool))).toMatchObject({ input: '{"city":"Tokyo"}', output: 'sunny' });
    const parameters = {
      function_tools: [{ name: 'get_weather', parameters_json_schema: { type: 'object' } }],
      output_tools: [],
    };
    expect(readBy(logfire, span('chat', { model_request_parameters: json(parameters) }))?.tools).toEqual([
      { name: 'get_weather', parameters: { type: 'object' } },
    ]);
  });
});

describe('Logfire', () => {
  it('elided content is no content', () => {
    const events = [
      { content: '<elided>', role: 'user' },
      { index: 0, content: '<elided>', finish_reason: 'STOP' },
    ];
    expect(readBy(logfire, span('generate_content', { events: json(events) }))).toEqual({});
  });

  it('a streamed call counts once: where its answer is', () => {
    const request = {
      request_data: json({ model: 'gpt-4o', stream: true, messages: [asked] }),
      'gen_ai.request.model': 'gpt-4o',
    };
    expect(readBy(logfire, span('Chat Completion with {request_data[model]!r}', request))?.kind).toBe('CHAIN');
    const later = span('streaming response from {request_data[model]!r} took {duration:.2f}s', {
      ...request,
      response_data: json({ combined_chunk_content: 'Sunny.', chunk_count: 2 }),
    });
    expect(readBy(logfire, later)).toEqual({ input: { messages: [asked] }, output: { messages: [answered] } });
  });

  it('a streamed call that failed has no second span, and stays a call', () => {
    const failed = {
      ...span('Chat Completion with {x}', { 'gen_ai.request.model': 'gpt-4o' }),
      events: [{ name: 'exception', time: null, attributes: new Map() }],
    };
    expect(readBy(logfire, failed)?.kind).toBeUndefined();
  });

  it('one call of a tool over MCP is one call', () => {
    const names = ['MCP request: tools/call joker', 'MCP server handle request: tools/call', 'tools/call joker'];
    expect(names.map((name) => readBy(logfire, span(name, {}))?.kind)).toEqual(['OTHER', 'OTHER', 'OTHER']);
    expect(
      readBy(logfire, span('tools/call joker', { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'joker' }))?.kind,
    ).toBe('OTHER');
    expect(readBy(logfire, span('Function: {name}', { name: 'joker', input: '{}', output: '4' }))).toMatchObject({
      kind: 'TOOL',
      name: 'joker',
      input: '{}',
    });
  });

  it('what a server lists is a catalogue', () => {
    const response = json({ tools: [{ name: 'joker', inputSchema: { type: 'object' } }] });
    expect(readBy(logfire, span('MCP request: tools/list', { response }))?.tools).toEqual([
      { name: 'joker', parameters: { type: 'object' } },
    ]);
  });

  it('a tool at the level of an error has failed', () => {
    const tool = { 'gen_ai.tool.name': 'Write', 'error.type': 'Permission denied' };
    expect(readBy(logfire, span('execute_tool Write', { ...tool, 'logfire.level_num': 17 }))?.error).toEqual({
      message: 'Permission denied',
    });
    expect(readBy(logfire, span('execute_tool Write', { ...tool, 'logfire.level_num': 9 }))?.error).toBeUndefined();
  });

  it('a group of OpenAI Agents is the session, the JSON of null is none', () => {
    expect(readBy(logfire, span('OpenAI Agents trace: {name}', { group_id: 's1' }))).toMatchObject({
      kind: 'CHAIN',
      session: 's1',
    });
    expect(readBy(logfire, span('OpenAI Agents trace: {name}', { group_id: 'null' }))?.session).toBeUndefined();
  });
});
