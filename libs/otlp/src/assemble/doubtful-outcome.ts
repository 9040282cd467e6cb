import type { Span } from '#contracts';
import { firstMember, fromJsonText, isRecord } from '../json-value.js';
import { plain } from '../dialects/index.js';

/** How a tool, or the framework around it, words a failure that it hands to the model as its answer. */
const ERROR_WORDS = /^\s*(?:an? )?(?:error|exception|traceback)\b/i;

/**
 * Libraries that see a function return record no failure, whatever it returned: no status, or OK. Where the answer begins as a failure
 * does, or has an `error`, how the call went is not known: it says so in its metadata, and nothing is made of the words themselves.
 * An OK under the plain names is the program's own word, and believed.
 */
export function withDoubt(span: Span): Span {
  if (span.kind !== 'TOOL' || span.status === 'ERROR' || isSet(span.error)) return span;
  if (span.status === 'OK' && span.metadata?.['dialect'] === plain.name) return span;
  return readsAsFailure(span.output) ? { ...span, metadata: { ...span.metadata, outcome_unknown: true } } : span;
}

function readsAsFailure(output: unknown): boolean {
  const value = fromJsonText(output);
  if (typeof value === 'string') return ERROR_WORDS.test(value);
  return isRecord(value) && isSet(firstMember(value, ['error', 'is_error', 'isError']));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
