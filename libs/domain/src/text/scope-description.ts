import { firstCodePoints } from './code-points.js';
import { sanitize, type SanitizeOptions } from './sanitize.js';
import { collapseWhiteSpace } from './white-space.js';

/** Code points of a scope description, before its full stop. */
export const SCOPE_DESCRIPTION_MAX = 160;

const OWN_DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['global', 'Advice that holds for every task.'],
  ['scoped', 'Advice for specific situations that have no name of their own.'],
]);

/**
 * One sentence that says what a scope is for. The host's description outranks the derived one; it is sanitised first.
 * @param scope the scope's normalised name
 * @param hostDescription what the host said about it, untrusted
 */
export function scopeDescription(
  scope: string,
  hostDescription?: string | null,
  options: Pick<SanitizeOptions, 'markers'> = {},
): string {
  const fromHost = oneSentence(sanitize(hostDescription, options));
  if (fromHost !== '') return fromHost;
  return OWN_DESCRIPTIONS.get(scope) ?? oneSentence(`${titleCase(scope.replace(/[_-]/g, ' '))} workflows.`);
}

function oneSentence(text: string): string {
  const line = firstCodePoints(collapseWhiteSpace(text), SCOPE_DESCRIPTION_MAX).replace(/[ ,;:]+$/, '');
  return line === '' || /[.!?]$/.test(line) ? line : `${line}.`;
}

function titleCase(name: string): string {
  return name.replace(/\p{L}+/gu, (run) => {
    const [first = ''] = run;
    return first.toUpperCase() + run.slice(first.length).toLowerCase();
  });
}
