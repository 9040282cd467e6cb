import { redactSecrets, redactText, sanitize, snippet } from '#domain/text';
import { bounded } from './cut.js';

/** Whatever a model may take for the end of a line. */
const LINE_ENDS = /\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;
/** Brackets of every kind and width: the prompts put ids and marks of ours into brackets. */
const BRACKETS = /[\p{Ps}\p{Pe}]/gu;

/**
 * Text from outside made fit for a prompt: bounded, without secrets, control characters and marker phrases. All its lines end
 * with \n, so that whoever indents them misses none.
 */
export function plainText(text: string): string {
  return sanitize(redactText(bounded(text).replace(LINE_ENDS, '\n')), { maxLength: 0 }).trim();
}

/** A name from outside on one line, without the brackets that would let it pass for a mark of ours: `lookup [c2] (failed)`. */
export function plainName(name: string, max = 80): string {
  return snippet(plainText(name).replace(BRACKETS, ' '), max);
}

/** Lines of a text stand further right than ours, so that none of them can pass for a step. */
export function indented(text: string): string {
  return text.replaceAll('\n', '\n      ');
}

/** Any recorded value made fit for a prompt: a text as it is, everything else as JSON on one line. Empty for nothing. */
export function plainValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return plainText(typeof value === 'string' ? value : json(redactSecrets(value)));
}

/** Integers beyond 2^53 keep their digits. */
function json(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? member.toString() : member));
}
