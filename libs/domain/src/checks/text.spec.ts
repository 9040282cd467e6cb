import { describe, expect, it } from '@jest/globals';
import { trace, turn } from './fixture.js';
import { answerText, requestText } from './text.js';

const request = (input: unknown) => requestText(trace([], { input }));
const answer = (output: unknown) => answerText(trace([], { output }));

describe('the request text', () => {
  it.each<[string, unknown, string]>([
    ['plain text', 'hello', 'hello'],
    ['text that only looks like JSON', '[1] first, {then', '[1] first, {then'],
    [
      'OpenAI messages',
      [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u1' },
        { role: 'assistant', content: 'a' },
        { role: 'user', content: 'u2' },
      ],
      'u2',
    ],
    [
      'Anthropic parts',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'image', source: {} },
              { type: 'text', text: 'b' },
            ],
          },
        ],
      },
      'a\nb',
    ],
    [
      'an Anthropic tool result after the question',
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [] },
        { role: 'user', content: [{ type: 'tool_result', content: 'no' }] },
      ],
      'q',
    ],
    ['Gemini contents', { contents: [{ role: 'user', parts: [{ text: 'g' }, { functionResponse: { name: 'f' } }] }] }, 'g'],
    [
      'a Vercel prompt in JSON text',
      '{"prompt":"[{\\"role\\":\\"user\\",\\"content\\":[{\\"type\\":\\"text\\",\\"text\\":\\"v\\"}]}]"}',
      'v',
    ],
    ['LangChain messages', { messages: [[{ lc: 1, id: ['langchain', 'HumanMessage'], kwargs: { content: 'l' } }]] }, 'l'],
    [
      'LangChain types',
      [
        { type: 'human', content: 'h' },
        { type: 'ai', content: 'a' },
      ],
      'h',
    ],
    ['Traceloop input', '{"input":"t","tags":["x"],"metadata":{}}', 't'],
    ['only a system message', [{ role: 'system', content: 's' }], ''],
    ['an object of its own shape', { city: 'Paris', nested: { topic: 'food' }, n: 4 }, 'Paris\nfood'],
    ['JSON text encoded twice', JSON.stringify(JSON.stringify({ text: 'd' })), 'd'],
    ['nothing', null, ''],
  ])('of %s', (_, input, text) => {
    expect(request(input)).toBe(text);
  });

  it('comes from the first agent or model span when the trace has no input', () => {
    const spans = [
      { span_id: '1', name: 'llm', kind: 'LLM' as const, status: 'OK' as const, input: [{ role: 'user', content: 'from span' }] },
    ];
    expect(requestText(trace(spans))).toBe('from span');
    expect(requestText(turn(trace(spans)))).toBe('from span');
  });
});

describe('the answer text', () => {
  it.each<[string, unknown, string]>([
    ['a chat completion', { choices: [{ message: { role: 'assistant', content: 'a' } }] }, 'a'],
    [
      'Anthropic text beside a tool use',
      [
        { type: 'text', text: 'a' },
        { type: 'tool_use', name: 'x', input: { text: 'no' } },
      ],
      'a',
    ],
    [
      'the Responses API',
      {
        output: [
          { type: 'reasoning', summary: [] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'r' }] },
        ],
      },
      'r',
    ],
    [
      'Gemini with a thought',
      { candidates: [{ content: { role: 'model', parts: [{ text: 'no', thought: true }, { text: 'g' }] } }] },
      'g',
    ],
    [
      'a state of messages',
      {
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: 'last' },
        ],
      },
      'last',
    ],
    [
      'an earlier turn only',
      [
        { role: 'assistant', content: 'old' },
        { role: 'user', content: 'new question' },
      ],
      '',
    ],
    [
      'a model that only calls tools',
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: null, tool_calls: [] },
      ],
      '',
    ],
    ['a number', 42, '42'],
    ['an output field', { output: 'o' }, 'o'],
  ])('of %s', (_, output, text) => {
    expect(answer(output)).toBe(text);
  });

  it('of a turn is that of its last trace, and of its last model call where the trace has none', () => {
    const llm = (id: string, at: number, content: string | null) => ({
      span_id: id,
      name: 'm',
      kind: 'LLM' as const,
      status: 'OK' as const,
      started_at: at,
      output: { role: 'assistant', content },
    });
    const last = trace([llm('b', 2, 'second'), llm('a', 1, 'first')]);
    expect(answerText({ ...turn(last), traces: [trace([], { output: 'earlier' }), last] })).toBe('second');
    expect(answerText({ ...turn(last), traces: [] })).toBe('');
  });

  it('survives hostile nesting', () => {
    let value: unknown = 'x';
    for (let n = 0; n < 5000; n += 1) value = { content: [value] };
    expect(answer(value)).toBe('');
    expect(answer('['.repeat(100_000))).toBe('['.repeat(100_000));
  });
});
