import { expect, it } from '@jest/globals';
import { hasTooManyParts, MAX_MARKS, MAX_MESSAGES } from './count-parts.js';

const json =
  (piece: string, marksOfOne: number) =>
  (marks: number): Buffer =>
    Buffer.from(`{"resourceSpans":[${piece.repeat(marks / marksOfOne)}{}]}`);
/** Field 1, length 0, over and over. */
const resources = (parts: number): Buffer => Buffer.alloc(2 * parts, Buffer.from([0x0a, 0]));

function field(number: number, inner: Uint8Array): Buffer {
  const length: number[] = [];
  for (let rest = inner.length; length.length === 0 || rest > 0; rest = Math.floor(rest / 128))
    length.push((rest % 128) + (rest >= 128 ? 128 : 0));
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), inner]);
}
const inSpan = (inner: Uint8Array): Buffer => field(1, field(2, field(2, inner)));
/** A span with so many empty attributes. */
const attributes = (parts: number): Buffer => inSpan(Buffer.alloc(2 * parts, Buffer.from([0x4a, 0])));

it.each([
  ['empty objects', 'json', MAX_MARKS, json('{},', 2)],
  ['numbers in a list', 'json', MAX_MARKS, json('0,', 1)],
  ['members of one object', 'json', MAX_MARKS, json('"k":0,', 1)],
  ['empty messages', 'protobuf', MAX_MESSAGES, resources],
  ['empty attributes', 'protobuf', MAX_MESSAGES, attributes],
] as const)('%s beyond the limit are too many, up to it they are not', (_, contentType, limit, make) => {
  expect(hasTooManyParts(make(limit + 1_000), contentType)).toBe(true);
  expect(hasTooManyParts(make(limit - 1_000), contentType)).toBe(false);
});

it('what lies in a text of a span does not count as messages, however long it is', () => {
  const name = Buffer.alloc(8 * MAX_MESSAGES, Buffer.from([0x0a, 0]));
  expect(hasTooManyParts(inSpan(field(5, name)), 'protobuf')).toBe(false);
});

it('what is no protobuf is left to the decoder', () => {
  expect(hasTooManyParts(Buffer.alloc(3 * MAX_MESSAGES, 0xff), 'protobuf')).toBe(false);
});
