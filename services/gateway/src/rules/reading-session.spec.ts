import { describe, expect, it } from '@jest/globals';
import { headerText, readingSession } from './reading-session.js';

describe('who reads', () => {
  it.each([
    [undefined, undefined, { session: null, turn: null }],
    ['', '', { session: null, turn: null }],
    ['s-1', '0', { session: 's-1', turn: 0 }],
    ['s'.repeat(255), ' 12 ', { session: 's'.repeat(255), turn: 12 }],
    // As a turn's session id is stored, so that both are the same session.
    ['a\u0000b', undefined, { session: 'a\ufffdb', turn: null }],
  ])('is read from %j and %j', (session, turn, reading) => {
    expect(readingSession(session, turn)).toEqual({ ok: true, reading });
  });

  it.each([
    ['s'.repeat(256), undefined, 'session'],
    ['s', '-1', 'turn'],
    ['s', '1.5', 'turn'],
    ['s', 'one', 'turn'],
    ['s', '1'.repeat(16), 'turn'],
  ])('is refused for %j and %j', (session, turn, path) => {
    expect(readingSession(session, turn)).toMatchObject({ ok: false, path });
  });

  it('may have any name in a header: bytes that are UTF-8 are, others stay what they were', () => {
    expect(headerText(Buffer.from('séance 漢', 'utf8').toString('latin1'))).toBe('séance 漢');
    expect(headerText('s\u00e9ance')).toBe('s\u00e9ance');
    expect(headerText(['first', 'second'])).toBe('first');
    expect(headerText(undefined)).toBeUndefined();
  });
});
