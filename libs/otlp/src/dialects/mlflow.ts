import type { ReceivedSpan } from '#contracts';
import type { Dialect, Reader, TokenUsage } from '../dialect.js';
import { isRecord } from '../json-value.js';
import { json, messages, text, tools } from '../readers.js';
import type { SpanView } from '../span-view.js';
import { once } from './framework-once.js';

const KINDS: ReadonlyMap<unknown, ReceivedSpan['kind']> = new Map([
  ['LLM', 'LLM'],
  ['CHAT_MODEL', 'LLM'],
  ['TOOL', 'TOOL'],
  ['AGENT', 'AGENT'],
  ['CHAIN', 'CHAIN'],
  ['WORKFLOW', 'CHAIN'],
  ['TASK', 'CHAIN'],
  ['RETRIEVER', 'RETRIEVER'],
  ['RERANKER', 'RETRIEVER'],
  ['EMBEDDING', 'EMBEDDING'],
]);

const inputs = once(json('mlflow.spanInputs'));
const outputs = once(json('mlflow.spanOutputs'));

/** MLflow: what went in and came out as JSON text, whichever library it traced; so are all its attributes. */
export const mlflow: Dialect = {
  name: 'mlflow',
  speaks: (span) => span.hasFamily('mlflow'),
  fields: {
    kind: [(span) => KINDS.get(json('mlflow.spanType')(span))],
    input: [ofModelCalls(messages(json('mlflow.chat.messages'), 'user')), ofModelCalls(messages(inputs, 'user')), inputs],
    output: [ofModelCalls(messages(outputs, 'assistant')), outputs],
    model: [plainText('mlflow.llm.model')],
    usage: [usage],
    tools: [tools(json('mlflow.chat.tools'))],
    session: [plainText('mlflow.trace.session')],
  },
};

function ofModelCalls<T>(reader: Reader<T>): Reader<T> {
  return (span) => (KINDS.get(json('mlflow.spanType')(span)) === 'LLM' ? reader(span) : undefined);
}

/** Texts are JSON too: `"gpt-4o"` with its quotes. */
function plainText(key: string): Reader<string> {
  return (span) => {
    const value = json(key)(span);
    return typeof value === 'string' ? value : text(key)(span);
  };
}

function usage(span: SpanView): TokenUsage | undefined {
  const counts = json('mlflow.chat.tokenUsage')(span);
  if (!isRecord(counts)) return undefined;
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, typeof count === 'number' ? count : null]));
}
