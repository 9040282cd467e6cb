import { describe, expect, it } from '@jest/globals';
import { boundEvidence, boundTaskDescriptor } from './bounded-json.js';

const list = Array.from({ length: 120 }, (_, index) => index);

describe('bounded JSON', () => {
  it('cuts lists to 100 items in evidence and to 50 in a task descriptor, however deep', () => {
    expect(boundEvidence({ a: { list } }, 4000)).toEqual({ a: { list: list.slice(0, 100) } });
    expect(boundTaskDescriptor({ a: [{ list }] }, 4000)).toEqual({ a: [{ list: list.slice(0, 50) }] });
  });
  it('redacts sensitive keys before it cuts a summary', () => {
    expect(boundTaskDescriptor({ token: 'x', z: 'y'.repeat(50) }, 30)).toEqual({ summary: '{"token": "[redacted]", "z": "' });
  });
  it('has no cap when the cap is 0 or less', () => {
    expect(boundEvidence('y'.repeat(50), 0)).toBe('y'.repeat(50));
  });
  it('keeps a __proto__ key as data', () => {
    const bounded = boundEvidence(JSON.parse('{"__proto__": {"x": 1}}'), 100);
    expect(JSON.stringify(bounded)).toBe('{"__proto__":{"x":1}}');
    expect(Object.getPrototypeOf(bounded)).toBe(Object.prototype);
  });
});
