import { answerScopeLine, scopeContexts } from '#domain/rules';
import { fieldsOf, textOf } from './shapes.js';

/** `{input, context?}` -> where a rule proposed with that scope would be filed, per context, and whether agents could read it. */
export function answerScope(line: unknown): object {
  const fields = fieldsOf(line, '{"input": "Payment flows"}');
  if (!('input' in fields)) throw new TypeError('input: it is missing; null says that nothing was chosen');
  const input = fields.input === null ? null : textOf(fields.input, 'input');
  if (fields.context === undefined) return answerScopeLine({ input });
  const context = scopeContexts.find((one) => one === fields.context);
  if (context === undefined) throw new TypeError(`context: one of ${scopeContexts.join(', ')}, or none for all`);
  return answerScopeLine({ input, context });
}
