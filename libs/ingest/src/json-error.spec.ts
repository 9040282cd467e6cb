import { describe, expect, it } from '@jest/globals';
import { JsonSyntaxError } from './json-error.js';

describe('JsonSyntaxError', () => {
  it('says where, what and what to do, with an excerpt on one line', () => {
    const error = new JsonSyntaxError('a colon is expected.', '{\n  "a" 1\0}', 8);
    expect(error).toMatchObject({ line: 2, column: 7, excerpt: '"{\\n  \\"a\\" 1\\u0000}"' });
    expect(error.message).toBe(`Not readable as JSON at line 2, column 7: a colon is expected. Near: ${error.excerpt}`);
  });
  it('keeps the excerpt short', () => {
    expect(new JsonSyntaxError('x', 'a'.repeat(10_000), 5000).excerpt).toHaveLength(50);
    expect(new JsonSyntaxError('x', '', 0).excerpt).toBe('(empty)');
  });
});
