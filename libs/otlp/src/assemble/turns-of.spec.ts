import type { ReceivedSpan } from '#contracts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message } from '../messages.js';
import { turnsOf } from './turns-of.js';

const span = (trace: string, more: Partial<ReceivedSpan> = {}): ReceivedSpan => ({
  ...{ trace_id: trace, span_id: `${trace}-0`, parent_span_id: null, name: trace, kind: 'OTHER', status: 'UNSET', model: null },
  ...{ started_at: 0, ended_at: 1, metadata: {}, dialect: 'plain', session: null, agent: null, tools: [] },
  ...more,
});
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const tool = (content: string): Message => ({ role: 'tool', content, tool_call_id: '' });
const model = (trace: string, at: number, asked: readonly Message[], answer: Message): ReceivedSpan =>
  span(trace, { kind: 'LLM', started_at: at, input: { messages: asked }, output: { messages: [answer] } });
const shape = (spans: readonly ReceivedSpan[]): unknown[] =>
  turnsOf(spans).turns.map((turn) => [turn.session_id, turn.turn_index, turn.traces?.[0]?.spans.map(({ name }) => name)]);

describe('the turns of a dump', () => {
  it('are the traces of each session in (started_at, trace_id) order, whatever the order of the dump', () => {
    const of = (trace: string, at: number, id: string): ReceivedSpan =>
      span(trace, { started_at: at, session: { id, explicit: false } });
    const spans = [of('b', 5, 's'), of('a', 5, 's'), of('c', 1, 's'), of('d', 2, 'other')];
    expect(shape(spans)).toEqual([
      ['s', 0, ['c']],
      ['s', 1, ['a']],
      ['s', 2, ['b']],
      ['other', 0, ['d']],
    ]);
  });

  it('fail when their root failed, and say their agent and tools', () => {
    const agent = { id: 'bot', version: null, model: null };
    const { turns } = turnsOf([
      span('a', { status: 'ERROR', agent, tools: [{ name: 'x' }], session: { id: 's', explicit: true } }),
    ]);
    expect(turns).toMatchObject([{ status: 'error', agent: { id: 'bot' }, tools: [{ name: 'x' }] }]);
  });

  it('leave out a trace without a session, and say why', () => {
    const { turns, unassigned } = turnsOf([span('a'), span('b'), span('b', { span_id: 'b-1', parent_span_id: 'b-0' })]);
    expect(turns).toEqual([]);
    expect(unassigned.map(({ found, reason }) => [found.trace.trace_id, reason])).toEqual([
      ['a', 'no session: the trace is a single span that names none, and no messages join it to others'],
      ['b', 'no session: none of its spans names one'],
    ]);
  });
});

describe('traces without a session', () => {
  const hi = [user('hi')];
  const more = [...hi, assistant('ho'), user('look')];
  const conversation = [
    model('t1', 1, hi, assistant('ho')),
    model('t2', 2, more, assistant('')),
    model('t3', 3, [...more, assistant(''), tool('found')], assistant('there')),
  ];

  it('are joined where a request goes on with an earlier one and its answer; a new user message is a new turn', () => {
    expect(shape(conversation)).toEqual([
      ['history-t1', 0, ['t1']],
      ['history-t1', 1, ['t2', 't3']],
    ]);
    expect(turnsOf(conversation).turns[0]?.metadata).toEqual({ joined_by: 'history' });
    expect(turnsOf(conversation).unassigned).toEqual([]);
  });

  it('of a tool alone join by the result that the next request shows, each once and in its time', () => {
    const ran = (trace: string, at: number, output: unknown): ReceivedSpan =>
      span(trace, { kind: 'TOOL', started_at: at, output });
    const tools = [
      ran('x1', 2, 'found'),
      ran('x2', 2, 'found'),
      ran('x3', 2, 'lost'),
      ran('x0', 1, 'found'),
      ran('x4', 2, { found: 1 }),
    ];
    expect(shape([...conversation, ...tools])).toEqual([
      ['history-t1', 0, ['t1']],
      ['history-t1', 1, ['t2', 'x1', 't3']],
    ]);
    const left = turnsOf([...conversation, ...tools]).unassigned.map(({ found }) => found.trace.trace_id);
    expect(left).toEqual(['x0', 'x2', 'x3', 'x4']);
  });

  it('are not joined by anything less than the whole history', () => {
    const other = [model('t1', 1, hi, assistant('ho')), model('t2', 2, [...hi, assistant('hm'), user('look')], assistant('x'))];
    expect(turnsOf(other).turns).toEqual([]);
    expect(turnsOf(other).unassigned).toHaveLength(2);
  });

  it('that begin alike stay two conversations', () => {
    const twin = conversation.map((one, n) => ({
      ...one,
      trace_id: `u${n}`,
      span_id: `u${n}`,
      name: `u${n}`,
      started_at: n + 10,
    }));
    expect(shape([...conversation, ...twin])).toEqual([
      ['history-t1', 0, ['t1']],
      ['history-t1', 1, ['t2', 't3']],
      ['history-u0', 0, ['u0']],
      ['history-u0', 1, ['u1', 'u2']],
    ]);
  });

  it('make the same turns in any order of the dump', () => {
    const shuffled = fc.shuffledSubarray(conversation, { minLength: 3 });
    fc.assert(fc.property(shuffled, (spans) => expect(turnsOf(spans)).toEqual(turnsOf(conversation))));
  });
});
