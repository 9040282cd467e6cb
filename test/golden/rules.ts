import {
  answerNoveltyLine,
  answerScopeLine,
  answerSearchLine,
  type NoveltyLine,
  type ScopeLine,
  type SearchLine,
} from '#domain/rules';

type Members = Readonly<Record<string, unknown>>;

interface Compared {
  readonly expected: Members;
  readonly actual: Members;
}

export function compareScope(line: Members): Compared {
  return compareAnswer(line, ['input', 'context'], answerScopeLine(line as unknown as ScopeLine));
}

export function compareNovelty(line: Members): Compared {
  return compareAnswer(line, ['existing', 'proposal'], answerNoveltyLine(line as unknown as NoveltyLine));
}

export function compareSearch(line: Members): Compared {
  // A scope whose rules are all retired is listed too, and only the answer names it.
  const asked = { ...line, scopes_asked: Object.keys(line['by_scope'] as object) } as unknown as SearchLine;
  return compareAnswer(line, ['rules', 'query', 'limit'], answerSearchLine(asked));
}

/** All members of a line but its inputs. */
function compareAnswer(line: Members, inputs: readonly string[], answer: object): Compared {
  const expected = Object.fromEntries(Object.entries(line).filter(([name]) => !inputs.includes(name)));
  return { expected: withoutErrors(expected) as Members, actual: withoutErrors(answer) as Members };
}

/** Why something is refused is worded by us. */
function withoutErrors(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, member: unknown) => (name === 'error' ? undefined : member)));
}
