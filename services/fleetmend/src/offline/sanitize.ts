import { answerSanitizeLine, type SanitizeAnswer } from '#domain/text';
import { fieldsOf, numberOf, textOf } from './shapes.js';

/** `{kind?, input, max_len?, scope?}` -> `{output}`; without a kind the input is sanitised. */
export function answerSanitize(line: unknown): SanitizeAnswer {
  const fields = fieldsOf(line, '{"kind": "sanitize", "input": "text", "max_len": 2000}');
  if (!('input' in fields)) throw new TypeError('input: it is missing');
  const { kind = 'sanitize', input, max_len: length, scope } = fields;
  return answerSanitizeLine({
    kind: textOf(kind, 'kind'),
    input,
    ...(length === undefined ? {} : { max_len: numberOf(length, 'max_len') }),
    ...(scope === undefined ? {} : { scope: textOf(scope, 'scope') }),
  });
}
