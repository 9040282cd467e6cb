import type { Dialect } from '../dialect.js';
import { json, kindFrom, text } from '../readers.js';

/** For spans of nobody we know: names that many use. Always the last to be asked. */
export const plain: Dialect = {
  name: 'plain',
  speaks: () => true,
  fields: {
    kind: [
      kindFrom('span.kind', {
        llm: 'LLM',
        tool: 'TOOL',
        agent: 'AGENT',
        chain: 'CHAIN',
        retriever: 'RETRIEVER',
        embedding: 'EMBEDDING',
      }),
    ],
    name: [],
    input: [json('input.value'), json('input')],
    output: [json('output.value'), json('output')],
    model: [text('model'), text('llm.model_name')],
    callId: [text('tool_call_id')],
  },
};
