import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { codePointLength } from './code-points.js';
import { sanitize } from './sanitize.js';

const hostileText = fc.string({
  maxLength: 60,
  unit: fc.oneof(
    fc.constantFrom('\x1b', '[', ']', '31m', '\x07', '\x9b', '\x9d', '\x9c', '\\', '\0', '\r', '\n', '\t', ' ', '\u00a0'),
    fc.constantFrom('\u200b', '\u202e', '\ufeff', '=======', '=', '-', '----', '#', '·', '…', '😀', '\ud800', 'ſ'),
    fc.constantFrom('fleetmend', 'loop', 'SYSTEM', 'alert', 'harness', ':', 'har'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});

describe('sanitize', () => {
  it.each([
    ['carriage returns', 'a\r\nb\rc', 'a\nbc'],
    ['C1 controls and 8-bit CSI', 'a\u009b31mb\u0085c', 'abc'],
    ['OSC ended by BEL', 'a\x1b]0;title\x07b', 'ab'],
    ['OSC ended by ST', 'a\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\b', 'alinkb'],
    ['8-bit OSC', 'a\u009d0;title\u009cb', 'ab'],
    ['only the introducer of an OSC that does not end', 'a\x1b]0;title', 'a]0;title'],
    ['a device control string', 'a\x1bPq#0\x1b\\b', 'ab'],
    ['bidirectional overrides', 'user\u202etxt.exe\u2066\u2069', 'usertxt.exe'],
    ['zero-width characters', 'a\u200bb\u2060c\ufeffd\u061ce\u180ef', 'abcdef'],
  ])('removes %s', (_what, text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it.each([
    ['fleetmend\u200bloop', 'fleetmend·loop'],
    ['Fleetmend-Loop', 'Fleetmend·Loop'],
    ['fleet\u200bmend \x1b[1mLOOP', 'fleetmend·LOOP'],
    ['system\r\nalert', 'system·alert'],
    ['system\x1b]0;x\x07alert', 'system·alert'],
    ['system--------alert', 'system·alert'],
    ['harn\u202eess\u200b:', 'harness·:'],
    ['fleetmendloop', 'fleetmendloop'],
  ])('recognises the marker in %j', (text, clean) => {
    expect(sanitize(text)).toBe(clean);
  });

  it('takes other marker phrases', () => {
    expect(sanitize('fleetmend loop, tool report', { markers: ['tool report'] })).toBe('fleetmend loop, tool·report');
  });

  it('gives the empty text for nothing', () => {
    expect(sanitize(null)).toBe('');
    expect(sanitize(undefined)).toBe('');
  });

  it('cuts without the mark when the cap is shorter than it', () => {
    expect(sanitize('x'.repeat(30), { maxLength: 11 })).toBe('x'.repeat(11));
    expect(sanitize('x'.repeat(30), { maxLength: 12 })).toBe('…[truncated]');
    expect(sanitize('x'.repeat(3000), { maxLength: 0 })).toHaveLength(3000);
  });

  it('is idempotent and never longer than its cap', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: -1, max: 40 }), (text, maxLength) => {
        const once = sanitize(text, { maxLength });
        expect(sanitize(once, { maxLength })).toBe(once);
        if (maxLength > 0) expect(codePointLength(once)).toBeLessThanOrEqual(maxLength);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves no control, invisible character, marker or ruler behind', () => {
    const forbidden =
      /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]|fleetmend[\s-]+loop|system[\s-]+alert|harness:|={8}|-{8}|#{8}/iu;
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(sanitize(text)).not.toMatch(forbidden);
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['\x1b[', '\x1b]', '\x9d', '\0', '=', 'system ', 's\0', '-'])('takes megabytes of %j', (piece) => {
    expect(codePointLength(sanitize(piece.repeat(4_000_000 / piece.length)))).toBeLessThanOrEqual(2000);
  });
});
