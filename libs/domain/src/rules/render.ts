import { collapseWhiteSpace } from '../text/index.js';
import type { RuleLibrary, ScopeAnswer, ScopeList } from './library.js';
import { UNBOUNDED, type ReadableRule, type Reader, type ShownRule } from './shown-rule.js';

/** Where the index and the rules of a scope are written. */
export const INDEX_FILE = 'rules.md';
export const scopeFile = (scope: string): string => `rules/${scope}.md`;

/** `rules.md`: the scopes with counts and descriptions, and no rule's text. */
export function renderIndex({ scopes, note }: ScopeList): string {
  const lines = scopes.map(
    ({ scope, description, active, candidates }) =>
      `- [${scopeFile(scope)}](${scopeFile(scope)}): ${description} (${active} active${candidates > 0 ? `, ${candidates} provisional` : ''})`,
  );
  return page('Rules', [
    'Advice learned from earlier work. Read the scopes that fit the task.',
    ...block(lines),
    ...(note === null ? [] : [note]),
  ]);
}

/** `rules/<scope>.md`: active rules, then candidates under a heading that says what they are. */
export function renderScope({ scope, description, rules, provisional, note }: ScopeAnswer): string {
  return page(`Rules: ${scope}`, [
    description,
    ...block(rules.map((rule) => bullet(rule, ''))),
    ...(provisional === null
      ? []
      : [`## ${provisional.heading}`, ...block(provisional.rules.map((rule) => bullet(rule, ' (candidate)')))]),
    ...(note === null ? [] : [note]),
  ]);
}

/**
 * The files of an export by their paths: the index, and every scope that has rules whole.
 * @param emptied scopes whose files exist already; without rules they are written as empty rather than left as they were
 */
export function renderFiles<R extends ReadableRule>(
  library: RuleLibrary<R>,
  reader: Reader,
  emptied: readonly string[] = [],
): Map<string, string> {
  const list = library.list(reader.now, Infinity);
  const scopes = new Set([...list.scopes.map(({ scope }) => scope), ...emptied]);
  const files = new Map([[INDEX_FILE, renderIndex(list)]]);
  for (const scope of scopes) files.set(scopeFile(scope), renderScope(library.read(scope, reader, { bounds: UNBOUNDED }).answer));
  return files;
}

/** One line each, whatever the text holds: a rule must not be able to look like a heading or like another rule. */
function bullet({ id, rule, rationale, source, trial }: ShownRule, label: string): string {
  const details = [
    ...(rationale.trim() === '' ? [] : [`  - Why: ${collapseWhiteSpace(rationale)}`]),
    ...(source === null ? [] : [`  - Source: ${collapseWhiteSpace(source)}`]),
    ...(trial === undefined
      ? []
      : [`  - trial: ${trial.observed}${trial.needed === null ? '' : `/${trial.needed}`} sessions observed`]),
  ];
  return [`- **${id}**${label}: ${collapseWhiteSpace(rule)}`, ...details].join('\n');
}

const block = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : [lines.join('\n')]);
const page = (title: string, parts: readonly string[]): string => `${[`# ${title}`, ...parts].join('\n\n')}\n`;
