import { describe, expect, it } from '@jest/globals';
import { markerBreaker } from './markers.js';

describe('markerBreaker', () => {
  const breakMarkers = markerBreaker(['system alert', 'harness:', 'over-all plan.']);
  it.each([
    ['system alert', 'system·alert'],
    ['ECOSYSTEM \u00a0-\nalerting', 'ECOSYSTEM·alerting'],
    ['system\0alert', 'system·alert'],
    ['sy\0stem -\0 alert', 'sy\0stem·alert'],
    ['harneſs\0:', 'harneſs·:'],
    ['harness :', 'harness :'],
    ['over all-plan.', 'over·all·plan·.'],
    ['system·alert', 'system·alert'],
    ['systemalert', 'systemalert'],
  ])('turns %j into %j', (text, broken) => {
    expect(breakMarkers(text)).toBe(broken);
  });
  it('breaks a phrase that overlaps itself, and a single word', () => {
    expect(markerBreaker(['go on go'])('go on go on go')).toBe('go·on·go·on·go');
    expect(markerBreaker(['loop'])('LOOP')).toBe('L·OOP');
  });
  it('takes the characters of a phrase literally and ignores an empty one', () => {
    expect(markerBreaker(['', '[a] (b*)'])('[a] (b*) x')).toBe('[a]·(b·*) x');
  });
});
