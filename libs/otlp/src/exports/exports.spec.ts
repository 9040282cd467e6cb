import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { normaliseSpan } from '../normalise.js';
import { exportedSpans, recogniseExport } from './index.js';

const read = (value: unknown) => {
  const kind = recogniseExport(value);
  const found = kind === undefined ? [] : exportedSpans(value, kind);
  return {
    kind,
    spans: found.flatMap((one) => ('span' in one ? [normaliseSpan(one.span, 0)] : [])),
    rejected: found.flatMap((one) => ('rejected' in one ? [one.rejected] : [])),
  };
};

const agentsSpan = (more: object): object => ({
  ...{ object: 'trace.span', id: 'span_1', trace_id: 'trace_1', parent_id: null },
  ...{ started_at: '2026-11-30T10:00:00.123456Z', ended_at: '2026-11-30T10:00:01Z' },
  ...more,
});

describe('what is an export', () => {
  it.each([
    [{ data: [{ object: 'trace' }] }, 'openai-agents'],
    [[{ object: 'trace.span' }], 'openai-agents'],
    [{ object: 'trace.span' }, 'openai-agents'],
    [{ trace: { id: 't' }, observations: [] }, 'langfuse'],
    [{ id: 't', observations: [] }, 'langfuse'],
    [{ observations: [] }, undefined],
    [{ data: [] }, undefined],
    [[], undefined],
    [null, undefined],
    [{ resourceSpans: [] }, undefined],
  ])('%j is %s', (value, kind) => {
    expect(recogniseExport(value)).toBe(kind);
  });

  it('no value breaks it', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = JSON.parse(text);
        read(value);
        read({ data: [{ object: 'trace' }, value] });
        read({ trace: { id: 't' }, observations: [value] });
        read({
          trace: { id: 't' },
          observations: [{ id: 'o', metadata: value, input: value, output: value, usageDetails: value }],
        });
      }),
    );
  });
});

describe('OpenAI Agents', () => {
  it('keeps ids and microseconds, and the group whichever item came first', () => {
    const { spans } = read({
      data: [agentsSpan({ span_data: { type: 'agent', name: 'Desk' } }), { object: 'trace', id: 'trace_1', group_id: 'g1' }],
    });
    expect(spans).toMatchObject([
      { trace_id: 'trace_1', span_id: 'span_1', parent_span_id: null, name: 'Desk', kind: 'AGENT', session: { id: 'g1' } },
    ]);
    expect(spans[0]?.started_at).toBe(Date.UTC(2026, 10, 30, 10) * 1000 + 123_456);
  });

  it('an error is a failed span', () => {
    const { spans } = read([
      agentsSpan({ span_data: { type: 'function', name: 'search', input: '{}' }, error: { message: 'no', data: null } }),
    ]);
    expect(spans).toMatchObject([{ kind: 'TOOL', name: 'search', status: 'ERROR', error: { message: 'no' } }]);
  });

  it('says why an item is no span', () => {
    expect(
      read({ data: [{ object: 'trace', id: 't' }, { object: 'trace.span', id: 'x' }, { object: 'other' }] }).rejected,
    ).toEqual(['a span without trace_id or id', 'neither a trace nor a span of OpenAI Agents']);
  });
});

describe('Langfuse', () => {
  const observation = {
    id: 'o1',
    traceId: 't1',
    type: 'GENERATION',
    name: 'chat',
    startTime: '2026-11-30T10:00:00.000Z',
    endTime: null,
  };

  it('as its API answers: the trace itself, metadata as text, the trace’s input on its root', () => {
    const metadata = JSON.stringify({
      scope: { name: 'langfuse-sdk', version: '3.0.0' },
      resourceAttributes: { 'service.name': 'desk' },
      tier: 'gold',
    });
    const { spans } = read({
      ...{ id: 't1', sessionId: 's1', input: '"Hello"', output: 'Bye' },
      observations: [
        { ...observation, type: 'SPAN', name: 'turn', input: null, output: null, metadata },
        {
          ...observation,
          id: 'o2',
          parentObservationId: 'o1',
          input: [{ role: 'user', content: 'Hello' }],
          output: { role: 'assistant', content: 'Bye' },
          model: 'gpt-4o',
        },
      ],
    });
    expect(spans).toMatchObject([
      {
        span_id: 'o1',
        input: 'Hello',
        output: 'Bye',
        session: { id: 's1' },
        ended_at: null,
        metadata: { resource: { 'service.name': 'desk' }, 'langfuse.observation.metadata.tier': 'gold' },
      },
      {
        span_id: 'o2',
        parent_span_id: 'o1',
        kind: 'LLM',
        model: 'gpt-4o',
        output: { messages: [{ role: 'assistant', content: 'Bye' }] },
      },
    ]);
  });

  it('a level of ERROR is a failed span', () => {
    const { spans } = read({ trace: { id: 't1' }, observations: [{ ...observation, level: 'ERROR', statusMessage: 'no' }] });
    expect(spans).toMatchObject([{ status: 'ERROR', error: { message: 'no' } }]);
  });

  it('says why an observation is no span', () => {
    expect(read({ trace: { id: 't1' }, observations: [null, { name: 'x' }, observation] })).toMatchObject({
      rejected: ['not an observation', 'an observation without id'],
      spans: [{ span_id: 'o1' }],
    });
  });
});
