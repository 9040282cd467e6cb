import { redactSecrets, redactText, sanitize, SANITIZED_MAX } from '../text/index.js';

/** Code points of one part of what the model is shown. */
export const PART_MAX = SANITIZED_MAX;

/** Looked at of a text, in UTF-16 units: far more than is ever shown, so that work on a text of megabytes is bounded. */
const RAW_MAX = 50_000;

/** A text from outside made fit for a prompt: without secrets, control characters and marker phrases, and bounded. */
export function outsideText(text: string, maxLength = PART_MAX): string {
  return sanitize(redactText(text.slice(0, RAW_MAX)), { maxLength }).trim();
}

/** Any recorded value as one bounded text; null for nothing. */
export function outsidePart(value: unknown, maxLength = PART_MAX): string | null {
  if (value === undefined || value === null) return null;
  return outsideText(typeof value === 'string' ? value : JSON.stringify(redactSecrets(value)), maxLength);
}

/** The texts and keys in a JSON value made fit for a prompt, each by itself. */
export function outsideValue(value: unknown, maxLength = PART_MAX): unknown {
  if (typeof value === 'string') return outsideText(value, maxLength);
  if (Array.isArray(value)) return value.map((item) => outsideValue(item, maxLength));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [outsideText(key, maxLength), outsideValue(member, maxLength)]),
  );
}
