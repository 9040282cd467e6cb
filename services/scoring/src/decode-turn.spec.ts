import { describe, expect, it } from '@jest/globals';
import { decodeTurn } from './decode-turn.js';

describe('what cannot be a turn', () => {
  it.each([
    ['not JSON', 'plain text', /JSON/],
    ['null', 'null', /expected object/i],
    ['no session', '{"turn_index":0}', /session_id/],
    ['a negative index', '{"session_id":"s","turn_index":-1}', /turn_index/],
    ['an index beyond what is exact', '{"session_id":"s","turn_index":9007199254740993}', /turn_index/],
    ['a session id of 1,000 characters', JSON.stringify({ session_id: 'x/.*>'.repeat(200), turn_index: 0 }), /session_id/],
    [
      'a time that is none',
      '{"session_id":"s","turn_index":0,"traces":[{"trace_id":"t","started_at":"soon"}]}',
      /traces\.0\.started_at/,
    ],
    [
      'a thousand and one traces',
      JSON.stringify({
        session_id: 's',
        turn_index: 0,
        traces: Array.from({ length: 1001 }, (_, i) => ({ trace_id: `t${i}`, started_at: 1 })),
      }),
      /at most 1000 traces/,
    ],
  ])('%s says why', (_, text, reason) => {
    const decoded = decodeTurn(Buffer.from(text));
    expect(decoded).toMatchObject({ ok: false, reason: expect.stringMatching(reason) as unknown });
  });
});
