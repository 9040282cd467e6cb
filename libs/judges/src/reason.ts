import { redactText, sanitize } from '#domain/text';

/** Words of a model made harmless: without secrets, sanitised, 2000 code points at most, and closing no fence they are put in. */
export function tidy(text: string): string {
  const unfenced = text
    .replace(/`{3,}/g, (run) => "'".repeat(Math.min(run.length, 3)))
    .replace(/~{3,}/g, '~~')
    .replace(/<(\/?data-\d)/gi, '‹$1');
  return sanitize(redactText(unfenced)).trim();
}
