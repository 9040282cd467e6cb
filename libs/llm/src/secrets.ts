import type { EndpointOptions } from './requests.js';

/** Shorter ones are words such as a team's name: they would be found inside other words. */
const SECRET_MIN = 8;

/**
 * Takes the configured key and header values out of a text: endpoints quote what they refuse, and their words are journaled and
 * shown. Each word of a value counts by itself, because of a header `Bearer <key>` only the key may be quoted.
 */
export function secretHider({ apiKey, headers }: EndpointOptions): (text: string) => string {
  const words = [apiKey ?? '', ...Object.values(headers ?? {})].flatMap((value) => value.split(/\s+/));
  // The longest first: a value may be part of another.
  const secrets = [...new Set(words)].filter((word) => word.length >= SECRET_MIN).sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text);
}
