import { redactSecrets, redactText, sanitize } from '#domain/text';
import { bounded } from './cut.js';

/** Text from outside made fit for a prompt: bounded, without secrets, control characters and marker phrases. */
export function plainText(text: string): string {
  return sanitize(redactText(bounded(text)), { maxLength: 0 }).trim();
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
