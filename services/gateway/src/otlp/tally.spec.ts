import { expect, it } from '@jest/globals';
import { Tally } from './tally.js';

it('a tally says nothing of a request without trouble', () => {
  const tally = new Tally();
  tally.accepted = 7;
  expect([tally.rejected, tally.describe()]).toEqual([0, '']);
});

it('a tally counts rejected spans per reason, and what was changed apart from them', () => {
  const tally = new Tally();
  tally.reject('no trace id');
  tally.reject('no trace id', 2);
  tally.reject('no span id');
  tally.warn('NUL characters were replaced');
  expect(tally.rejected).toBe(4);
  expect(tally.describe()).toBe(
    '4 spans rejected: no trace id (3); no span id (1). accepted, but changed: NUL characters were replaced (1)',
  );
});

it('a tally of a thousand reasons stays short', () => {
  const tally = new Tally();
  for (let at = 0; at < 1_000; at += 1) tally.reject(`reason ${at}`);
  expect(tally.describe()).toMatch(/^1000 spans rejected: reason 0 \(1\); .*reason 19 \(1\); and 980 more reasons$/);
});
