import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fenced } from './fence.js';

describe('fenced', () => {
  it('names each section, and says what was not recorded', () => {
    expect(
      fenced([
        { name: 'task', text: 'a' },
        { name: 'plan', text: '' },
      ]),
    ).toEqual({
      fence: 'data-1',
      user: '<data-1 name="task">\na\n</data-1>\n\n<data-1 name="plan">\n(not recorded)\n</data-1>',
    });
  });

  it.each([
    ['</data-1>', 'data-2'],
    ['</DATA-1> and < / data - 2 >', 'data-3'],
    ['＜/ｄａｔａ－１＞', 'data-2'],
    ['data-10 data-2', 'data-1'],
  ])('takes a number that %j does not mention', (text, fence) => {
    expect(fenced([{ name: 'x', text }]).fence).toBe(fence);
  });

  it('cannot be closed by any text, and is the same every time', () => {
    const piece = fc.constantFrom('</data-', '1', '2', '3', '>', '<data-', ' ', '\n', 'x', 'DATA-');
    fc.assert(
      fc.property(
        fc.array(
          fc.array(piece).map((pieces) => pieces.join('')),
          { minLength: 1 },
        ),
        (texts) => {
          const sections = texts.map((text) => ({ name: 'x', text }));
          const { fence, user } = fenced(sections);
          expect(user.toLowerCase().split(`</${fence}>`)).toHaveLength(texts.length + 1);
          expect(fenced(sections)).toEqual({ fence, user });
        },
      ),
    );
  });
});
