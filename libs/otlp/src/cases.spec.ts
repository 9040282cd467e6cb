import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { ReceivedSpan } from '#contracts';
import { describe, expect, it } from '@jest/globals';
import { assembleTrace, decodeTraces, groupTraces, normaliseSpan } from './index.js';

const CASES = '../shared/data/cases';
const present = existsSync(CASES) || process.env['CI'] === 'true';
if (!present) console.info('Skipped: the cases in ../shared/data are absent.');
const withData = present ? describe : describe.skip;

const RECEIVED_AT = 1_770_000_000_000_000;

interface Read {
  readonly spans: ReceivedSpan[];
  readonly rejected: Readonly<Record<string, number>>;
  readonly warnings: Readonly<Record<string, number>>;
}

/** Every input of a case, by name. */
function inputsOf(number: string): Readonly<Record<string, Read>> {
  const file = readdirSync(CASES).find((name) => name.startsWith(`${number}-`)) ?? '';
  const { inputs } = JSON.parse(readFileSync(`${CASES}/${file}`, 'utf8')) as {
    inputs: { name: string; body?: unknown; bodyText?: string }[];
  };
  return Object.fromEntries(inputs.map(({ name, body, bodyText }) => [name, readBody(bodyText ?? JSON.stringify(body))]));
}

function readBody(text: string): Read {
  const decoded = decodeTraces(Buffer.from(text), 'json');
  const spans = [...decoded.spans].map((span) => normaliseSpan(span, RECEIVED_AT));
  return { spans, rejected: Object.fromEntries(decoded.rejected), warnings: Object.fromEntries(decoded.warnings) };
}

withData('the recorded case', () => {
  it('01: a NaN costs its one value, not the batch', () => {
    const inputs = inputsOf('01');
    const batch = inputs['double-null'];
    expect(batch?.rejected).toEqual({});
    expect(batch?.warnings).toEqual({ 'a value that says none became null': 1 });
    expect(batch?.spans.map(({ token_usage }) => token_usage)).toEqual([{ input_tokens: null }, { input_tokens: 41 }]);
    expect(inputs['nan-inside-json-string-attribute']?.spans[0]?.output).toEqual({ scores: [0.5, null, null] });
  });

  it('03: one bad span costs itself, with its reason', () => {
    const batch = inputsOf('03')['mixed-batch'];
    expect(batch?.spans.map(({ name }) => name)).toEqual(['good', 'attr without value', 'kind omitted']);
    expect(batch?.rejected).toEqual({ 'traceId is not 16 bytes': 1 });
  });

  it('05: nanoseconds are text or number, milliseconds are told apart, missing ones are the time of receipt', () => {
    const spans = Object.values(inputsOf('05')).flatMap((one) => one.spans);
    expect(spans.map(({ started_at, ended_at }) => [started_at, ended_at])).toEqual([
      [1_769_000_000_123_456, 1_769_000_000_123_456],
      [1_769_000_000_123_456, 1_769_000_000_123_456],
      [1_769_000_000_123_000, 1_769_000_000_623_000],
      [RECEIVED_AT, null],
    ]);
    expect(spans.map(({ metadata }) => metadata['notes'])).toEqual([
      undefined,
      undefined,
      ['startTimeUnixNano was sent in milliseconds', 'endTimeUnixNano was sent in milliseconds'],
      ['no time was recorded: the time of receipt stands'],
    ]);
  });

  it('07: a child before its root, a late child and an orphan are linked or shown, in whatever order', () => {
    const spans = Object.values(inputsOf('07')).flatMap((one) => one.spans);
    const traces = [...groupTraces(spans).values()].map((own) => assembleTrace(own));
    const again = [...groupTraces([...spans].reverse()).values()].map((own) => assembleTrace(own));
    expect(new Set(again.map((one) => JSON.stringify(one)))).toEqual(new Set(traces.map((one) => JSON.stringify(one))));
    const shown = traces.flatMap(({ trace }) => trace.spans);
    expect(shown).toHaveLength(spans.length);
    const orphans = traces.flatMap((one) => one.orphans);
    expect(orphans).toHaveLength(1);
    expect(shown.find(({ span_id: id }) => id === orphans[0])?.parent_span_id).toBeNull();
    expect(shown.find(({ name }) => name === 'model_step')?.parent_span_id).toBe('0101010101010101');
  });

  it('09: a batch sent twice is one, and of a conflict the version that ended later stays', () => {
    const inputs = inputsOf('09');
    const once = assembleTrace(inputs['batch']?.spans ?? []);
    expect(assembleTrace([...(inputs['batch']?.spans ?? []), ...(inputs['batch-again']?.spans ?? [])])).toEqual(once);
    const conflict = [...(inputs['conflict-a']?.spans ?? []), ...(inputs['conflict-b']?.spans ?? [])];
    for (const spans of [conflict, [...conflict].reverse()]) {
      expect(assembleTrace(spans).trace.spans).toMatchObject([{ span_id: '0707070707070707', status: 'UNSET' }]);
    }
  });

  it('11: keys that look like a prototype and huge indices are no messages, the others are read', () => {
    const inputs = inputsOf('11');
    expect(inputs['proto']?.spans[0]?.input).toEqual({ messages: [{ role: 'user', content: 'hello' }] });
    const messages = (inputs['huge-index']?.spans[0]?.input as { messages: { content: string }[] }).messages;
    expect(messages.map(({ content }) => content)).toEqual(['a', 'b']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('12: a session is named by any span and by any of its names', () => {
    const sessions = Object.entries(inputsOf('12')).map(([name, { spans }]) => [name, assembleTrace(spans).session?.id ?? null]);
    expect(Object.fromEntries(sessions)).toMatchObject({
      'root-only': 's-14',
      'alias-conversation': 's-15',
      'alias-metadata-json': 's-16',
      'alias-vercel': 's-17',
      none: null,
    });
  });
});
