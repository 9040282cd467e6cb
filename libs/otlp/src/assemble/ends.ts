import type { ReceivedSpan } from '#contracts';
import { extractText } from '#domain/checks';
import { isConversation } from './model-calls.js';
import { enclosing, type SpanTree } from './span-tree.js';

/** What the trace was asked and what it answered; undefined where nobody recorded it. */
export interface Ends {
  readonly input: unknown;
  readonly output: unknown;
}

/**
 * From the topmost span, else from the outermost agents (the first one's input, the last one's output), else from the first request to a model and the last answer of one. Messages come down
 * to the words of the last user or assistant; a last answer that only calls tools is an empty one.
 * @param calls the model calls of the trace, in order
 */
export function endsOf(tree: SpanTree, calls: readonly ReceivedSpan[]): Ends {
  const within = enclosing(tree, 'AGENT', []);
  const agents = tree.spans.filter((span) => span.kind === 'AGENT' && !within.has(span));
  const roots = tree.top === undefined ? [] : [tree.top];
  return {
    input: plainText([...roots, ...agents, ...calls].find((span) => isSaid(span.input))?.input, 'request'),
    output: plainText([...roots, ...agents.reverse(), ...calls.slice(-1)].find((span) => isSaid(span.output))?.output, 'answer'),
  };
}

function isSaid(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function plainText(value: unknown, side: 'request' | 'answer'): unknown {
  return isConversation(value) ? extractText(value, side) : value;
}
