import { expect, it } from '@jest/globals';
import { preamble as ofRules } from '../../domain/src/rules/index.js';
import { preamble } from './preamble.js';

it('is the text that the rules have', () => {
  expect(preamble()).toBe(ofRules());
});
