import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { derivedId, episodeId, noticeId, sessionKey, sessionToken } from './index.js';

describe('ids', () => {
  it('keep apart sessions of two projects, and are uuids', () => {
    expect(sessionKey('a', 's')).not.toBe(sessionKey('b', 's'));
    expect(sessionKey('a', 's')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
  });
  it('make one token of any session id', () => {
    expect(sessionToken('plain-1_A')).toBe('plain-1_A');
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }), (session) =>
        /^(~[A-Z2-7]{26}|[A-Za-z0-9_-]{1,64})$/.test(sessionToken(session)),
      ),
    );
    expect(sessionToken('a.b')).not.toBe(sessionToken('a*b'));
  });
  it('are the same for the same cause and others for another', () => {
    expect(derivedId('x', 's', 1)).toBe(derivedId('x', 's', 1));
    expect(new Set([derivedId('x', 's', 1), derivedId('y', 's', 1), derivedId('x', 's', 2)]).size).toBe(3);
  });
  it('of episodes do not depend on the order of their notices', () => {
    expect(episodeId(['b', 'a'])).toBe(episodeId(['a', 'b']));
  });
  it('of notices sort by time', () => {
    expect(noticeId(1000, 'f'.repeat(16)) < noticeId(1001, '0'.repeat(16))).toBe(true);
  });
});
