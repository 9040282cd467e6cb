import { describe, expect, it } from '@jest/globals';
import { readBy, spanOf } from './framework-fixture.js';
import { langfuse } from './langfuse.js';

const json = JSON.stringify;
const read = (attributes: Parameters<typeof spanOf>[0], more?: Parameters<typeof spanOf>[1]) =>
  readBy(
    langfuse,
    spanOf(Object.fromEntries(Object.entries(attributes).map(([key, value]) => [`langfuse.${key}`, value])), more),
  );

describe('Langfuse', () => {
  it('reads a generation with the tools of its request', () => {
    const request = {
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [{ type: 'function', function: { name: 'get_weather' } }],
    };
    expect(
      read({
        'observation.type': 'generation',
        'observation.input': json(request),
        'observation.output': json({ role: 'assistant', content: 'Sunny.' }),
        'observation.model.name': 'gpt-4o',
        'observation.usage_details': json({ input: 10, output: 5, total: 15 }),
        'session.id': 's1',
      }),
    ).toEqual({
      kind: 'LLM',
      input: { messages: [{ role: 'user', content: 'Weather?' }] },
      output: { messages: [{ role: 'assistant', content: 'Sunny.' }] },
      model: 'gpt-4o',
      usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      tools: [{ name: 'get_weather' }],
      session: 's1',
    });
  });

  it.each([
    ['tool', 'TOOL'],
    ['Agent', 'AGENT'],
    ['RETRIEVER', 'RETRIEVER'],
    ['span', undefined],
    ['nonsense', undefined],
  ])('the type %s is the kind %s', (type, kind) => {
    expect(read({ 'observation.type': type })?.kind).toBe(kind);
  });

  it('takes no tool of a LangChain request for something a tool said', () => {
    const tool = { type: 'function', function: { name: 'search', parameters: { type: 'object' } } };
    const input = json([
      { role: 'user', content: 'Hi' },
      { role: 'tool', content: tool },
      { role: 'tool', content: 'found', tool_call_id: 'c1' },
    ]);
    expect(read({ 'observation.type': 'generation', 'observation.input': input })).toMatchObject({
      input: {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'tool', content: 'found', tool_call_id: 'c1' },
        ],
      },
      tools: [{ name: 'search', parameters: { type: 'object' } }],
    });
  });

  it('knows a tool of LangChain by what it gave, and its arguments from the text of a dict', () => {
    const output = json({ type: 'tool', tool_call_id: 'c1', content: 'found', status: 'success' });
    expect(
      read({ 'observation.type': 'span', 'observation.input': "{'query': 'x'}", 'observation.output': output }),
    ).toMatchObject({
      kind: 'TOOL',
      callId: 'c1',
      input: { query: 'x' },
      output: 'found',
    });
  });

  it('reads a conversation that was made one text, and its None', () => {
    const input = 'system: Be nice.\nTwo lines.\nuser: Weather?\nassistant: None\ntool: sunny';
    const said = read({ 'observation.type': 'generation', 'observation.input': input, 'observation.output': 'None' });
    expect(said?.input).toEqual({
      messages: [
        { role: 'system', content: 'Be nice.\nTwo lines.' },
        { role: 'user', content: 'Weather?' },
        { role: 'tool', content: 'sunny', tool_call_id: '' },
      ],
    });
    expect(said).not.toHaveProperty('output');
  });

  it('gives the input of the trace to its root only', () => {
    expect(read({ 'trace.input': '"Hi"' })?.input).toBe('Hi');
    expect(read({ 'trace.input': '"Hi"' }, { parentSpanId: '3'.repeat(16) })?.input).toBeUndefined();
  });

  it('an error is a level', () => {
    expect(read({ 'observation.level': 'ERROR', 'observation.status_message': 'no' })?.error).toEqual({ message: 'no' });
    expect(read({ 'observation.level': 'WARNING', 'observation.status_message': 'no' })?.error).toBeUndefined();
  });

  it.each([
    'session.id',
    'trace.metadata.langfuse_session_id',
    'observation.metadata.langfuse_session_id',
    'observation.metadata.thread_id',
  ])('finds the session under %s', (key) => {
    expect(read({ [key]: 's1' })?.session).toBe('s1');
  });
});
