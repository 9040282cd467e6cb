import type { Dialect } from '../dialect.js';
import { isRecord, member } from '../json-value.js';
import { json, tree } from '../readers.js';
import type { SpanView } from '../span-view.js';

/** Google's GenAI SDK beside the conventions: a tool is a function of the program, its arguments are attributes one by one. */
export const googleGenai: Dialect = {
  name: 'google-genai',
  speaks: (span) => span.hasFamily('code.function') && span.has('gen_ai.tool.name'),
  fields: { input: [callArguments], output: [json('code.function.return.value')] },
};

/** `{ city: { type: 'str', value: 'Tokyo' } }`; without values where content is not recorded. */
function callArguments(span: SpanView): unknown {
  const parameters = tree('code.function.parameters.')(span);
  if (!isRecord(parameters)) return undefined;
  const said = Object.entries(parameters).filter(([, parameter]) => isRecord(parameter) && Object.hasOwn(parameter, 'value'));
  if (said.length === 0) return undefined;
  return Object.fromEntries(
    said.map(([name, parameter]) => [name, isRecord(parameter) ? member(parameter, 'value') : undefined]),
  );
}
