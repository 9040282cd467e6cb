import { describe, expect, it } from '@jest/globals';
import { readErrorBody } from './error-body.js';
import { retryHintMs } from './retry-hint.js';

const NOW = Date.parse('2026-01-21T12:59:50Z');

function hint(headers: Record<string, string>, body: unknown = {}): number | undefined {
  return retryHintMs(new Headers(headers), readErrorBody(typeof body === 'string' ? body : JSON.stringify(body)), NOW);
}

const said = (text: string) => hint({}, { error: { message: text } });

describe('the hint when to come back', () => {
  it.each<[string, string, number | undefined]>([
    ['retry-after', '7', 7000],
    ['retry-after', ' 1.5 ', 1500],
    ['retry-after', 'Wed, 21 Jan 2026 13:00:00 GMT', 10_000],
    ['retry-after', 'Wed, 21 Jan 2026 12:00:00 GMT', undefined],
    ['retry-after-ms', '350', 350],
    ['retry-after', '86400', 86_400_000],
    ['retry-after', '999999999999999', 86_400_000],
    ['retry-after', 'soon', undefined],
    ['retry-after', '-5', undefined],
    ['retry-after', '0', undefined],
    ['retry-after', '1e3', undefined],
    ['retry-after', '', undefined],
  ])('is read from %s: %s', (name, value, ms) => {
    expect(hint({ [name]: value })).toBe(ms);
  });

  it.each<[string, number | undefined]>([
    ['Rate limit reached. Please try again in 94ms.', 94],
    ['Please try again in 7.66s. Visit the site.', 7660],
    ['Please try again in 1m30.5s.', 90_500],
    ['Please retry after 20 seconds.', 20_000],
    ['Please retry in 31.2s.', 31_200],
    ['Try again in 2 minutes', 120_000],
    ['Please try again in 1h12m0s.', 4_320_000],
    ['Please try again in 3 moments', undefined],
    ['Please try again in a moment', undefined],
    ['Please try again later, in 2026', undefined],
  ])('is read from the text %j', (text, ms) => {
    expect(said(text)).toBe(ms);
  });

  it('is read from RetryInfo, also inside a list', () => {
    const error = { code: 429, details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '31s' }] };
    expect(hint({}, { error })).toBe(31_000);
    expect(hint({}, [{ error }])).toBe(31_000);
  });

  it('is the longest where there are several', () => {
    expect(hint({ 'retry-after': '2', 'retry-after-ms': '350' }, { error: { message: 'try again in 5s' } })).toBe(5000);
  });
});
