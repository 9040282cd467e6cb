import { describe, expect, it } from '@jest/globals';
import { scorePosted, sessionEnded, traceScored, type EventContract } from '#contracts';
import { decoderOf } from './decode.js';

const read = (event: unknown, payload: object) => decoderOf(event as EventContract)(Buffer.from(JSON.stringify(payload)));
const KEY = `sk-${'a1B2'.repeat(10)}`;
const NOTES = ['NUL characters were replaced by U+FFFD', 'lone surrogates were replaced by U+FFFD'];

describe('what outsiders publish', () => {
  it('is made storable and redacted: a verifier answer', () => {
    const scores = [{ metric: 'outcome_correct', value: 0, reason: `\0\ud800 key ${KEY}`, trace_id: KEY }];
    expect(read(scorePosted, { session_id: 'a\0b', turn_index: 0, scores, password: 'x' })).toEqual({
      ok: true,
      notes: NOTES,
      payload: {
        session_id: 'a\ufffdb',
        turn_index: 0,
        scores: [{ metric: 'outcome_correct', value: 0, reason: '\ufffd\ufffd key [redacted]', trace_id: KEY }],
        password: '[redacted]',
      },
    });
  });

  it('is made storable and redacted: the end of a session', () => {
    expect(read(sessionEnded, { session_id: KEY, reason: `\0 ${KEY}` })).toMatchObject({
      ok: true,
      payload: { session_id: KEY, reason: '\ufffd [redacted]' },
    });
  });

  it('says what is wrong with it', () => {
    expect(read(sessionEnded, { session_id: '' })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('session_id') as unknown,
    });
  });
});

describe('what our services publish', () => {
  it('is taken as it is', () => {
    const payload = {
      ...{ session_id: 's', turn_index: 0, tier: 1, answer: 1, accepted_at: 1, config: 'c', scores: [] },
      ...{ signals: [{ trace_id: 't', failing_tools: [], error: `key ${KEY}` }], pending: false, partial: false, skipped: null },
    };
    expect(read(traceScored, payload)).toEqual({ ok: true, payload, notes: [] });
  });
});
