import type { RuleToolInput, RuleToolOutput } from '#contracts';
import { readableScope, SEARCH_DEFAULT, type Exposure, type Reader } from '#domain/rules';
import type { ProjectRules } from './project-rules.js';

/** An answer, and what it exposed its reader to: for list and status nothing. */
export interface RuleRead<Output> {
  readonly answer: Output;
  readonly exposure: Exposure | null;
}

export type RefusedRead = { readonly refused: string };

const MICROS_PER_MILLI = 1_000;

/** The four reads over a project's rules in memory (BEHAVIOUR 9; CONTRACTS 6). */
export const ruleReads = {
  list: (rules: ProjectRules, reader: Reader): RuleRead<RuleToolOutput<'list'>> => {
    const { scopes, note } = rules.library.list(reader.now);
    return { answer: { version: rules.version, scopes: scopes.map((scope) => ({ ...scope })), note }, exposure: null };
  },
  read: (
    rules: ProjectRules,
    reader: Reader,
    { scope }: RuleToolInput<'read'>,
  ): RuleRead<RuleToolOutput<'read'>> | RefusedRead => {
    const named = readableScope(scope);
    if (!named.accepted) return { refused: named.error };
    const { answer, exposure } = rules.library.read(named.scope, reader);
    return { answer: { version: rules.version, ...mutable(answer) }, exposure };
  },
  search: (
    rules: ProjectRules,
    reader: Reader,
    { query, limit }: RuleToolInput<'search'>,
  ): RuleRead<RuleToolOutput<'search'>> => {
    const { answer, exposure } = rules.library.search(query, reader, limit ?? SEARCH_DEFAULT);
    return { answer: { version: rules.version, ...mutable(answer) }, exposure };
  },
  status: (rules: ProjectRules, reader: Reader, { rule_id: id }: RuleToolInput<'status'>): RuleRead<RuleToolOutput<'status'>> => {
    const found = rules.library.status(id, reader);
    const { version } = rules;
    if (!found.known)
      return { answer: { version, id, known: false, scope: null, status: null, created_at: null }, exposure: null };
    const { scope, status, created_at: created } = found;
    return { answer: { version, id, known: true, scope, status, created_at: created * MICROS_PER_MILLI }, exposure: null };
  },
};

interface Lists<Shown> {
  readonly rules: readonly Shown[];
  readonly provisional: { readonly heading: string; readonly rules: readonly Shown[] } | null;
}

/** The same answer with lists of its own, as the contract's types have them. */
function mutable<Shown, A extends Lists<Shown>>(
  answer: A & Lists<Shown>,
): Omit<A, 'rules' | 'provisional'> & { rules: Shown[]; provisional: { heading: string; rules: Shown[] } | null } {
  const { provisional } = answer;
  return {
    ...answer,
    rules: [...answer.rules],
    provisional: provisional === null ? null : { heading: provisional.heading, rules: [...provisional.rules] },
  };
}
