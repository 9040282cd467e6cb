import { describe, expect, it } from '@jest/globals';
import { maskedUrls, stillMasked, unmaskedUrls } from './masked-urls.js';

const hook = (url: string) => ({ gate_window: 3, metrics: { tone: { kind: 'webhook', url }, sent: { kind: 'host' } } });

describe('the address of a webhook', () => {
  it.each([
    ['https://h/x?token=abc', 'https://h/x?[redacted]'],
    ['https://h/x?a=1?b=2\n&c#d', 'https://h/x?[redacted]'],
    ['https://h/x', 'https://h/x'],
  ])('is read without its query: %j', (url, shown) => {
    expect(maskedUrls(hook(url))).toEqual(hook(shown));
  });

  it.each([[{}], [{ metrics: null }], [{ metrics: { tone: null } }], [{ metrics: { tone: { url: 7 } } }], [{ metrics: 'x' }]])(
    'may be missing: %j',
    (patch) => {
      expect(maskedUrls(patch)).toEqual(patch);
      expect(unmaskedUrls(patch, patch)).toEqual(patch);
      expect(stillMasked(patch)).toEqual([]);
    },
  );

  it('is the known one again where what was read comes back, and of no other metric', () => {
    const known = hook('https://h/x?token=abc');
    expect(unmaskedUrls(maskedUrls(known), known)).toEqual(known);
    const other = unmaskedUrls(hook('https://other/x?[redacted]'), known);
    expect(stillMasked(other)).toEqual(['tone']);
    expect(stillMasked(known)).toEqual([]);
  });
});
