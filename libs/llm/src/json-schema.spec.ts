import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { requestSchema } from './json-schema.js';
import { unitScore } from './unit-score.js';

describe('the schema of a request', () => {
  it('is strict, without limits that providers refuse, when every property is required', () => {
    const schema = z.object({
      score: unitScore.describe('0 to 1'),
      list: z.array(z.object({ a: z.string().min(2).nullable() })),
    });
    const { strict, sent, full } = requestSchema(schema);
    expect(strict).toBe(true);
    expect(sent).toEqual({
      type: 'object',
      properties: {
        score: { type: 'number', description: '0 to 1' },
        list: {
          type: 'array',
          items: {
            type: 'object',
            properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
            required: ['a'],
            additionalProperties: false,
          },
        },
      },
      required: ['score', 'list'],
      additionalProperties: false,
    });
    expect(full).toMatchObject({ properties: { score: { minimum: 0, maximum: 1 } } });
  });

  it.each<[string, z.ZodType]>([
    ['an optional property', z.object({ a: z.string().optional() })],
    ['free keys', z.object({ a: z.record(z.string(), z.number()) })],
    ['an optional property inside a list', z.array(z.object({ a: z.string().optional() }))],
  ])('is not strict with %s', (_, schema) => {
    const { strict, sent, full } = requestSchema(schema);
    expect(strict).toBe(false);
    expect(sent).toEqual(full);
  });

  it('keeps a property that has the name of a keyword', () => {
    const { strict, sent } = requestSchema(z.object({ minimum: z.string(), properties: z.string() }));
    expect(strict).toBe(true);
    expect(sent['properties']).toEqual({ minimum: { type: 'string' }, properties: { type: 'string' } });
  });
});
