import { answerNoveltyLine, answerSearchLine, ruleStatuses, type NoveltyLine, type SearchLine } from '#domain/rules';
import { fieldsOf, isFields, listOf, numberOf, objectOf, textOf, type Fields } from './shapes.js';

type Stored = NoveltyLine['existing'][number];
type Searched = SearchLine['rules'][number];

/** `{existing, proposal}` -> whether the proposal says something new, and which stored rules cover it. */
export function answerNovelty(line: unknown): object {
  const fields = fieldsOf(line, '{"existing": [], "proposal": {"rule": "Check the status first.", "scope": "payments"}}');
  return answerNoveltyLine({
    existing: listOf(fields, 'existing', (value, path) => {
      const rule = objectOf(value, path);
      return { ...coreOf(rule, path), ...proposalOf(rule, path) };
    }),
    proposal: proposalOf(objectOf(fields.proposal, 'proposal'), 'proposal'),
  });
}

/** `{rules, query, limit}` -> the rules in the order of search, and in the order of reading. */
export function answerRank(line: unknown): object {
  const fields = fieldsOf(line, '{"rules": [], "query": "payment status", "limit": 10}');
  return answerSearchLine({
    rules: listOf(fields, 'rules', (value, path) => searchedOf(objectOf(value, path), path)),
    query: textOf(fields.query, 'query'),
    limit: numberOf(fields.limit, 'limit'),
    // A golden line can be piped in as it is: its answer names the scopes whose rules are all retired.
    scopes_asked: isFields(fields.by_scope) ? Object.keys(fields.by_scope) : [],
  });
}

function coreOf(rule: Fields, path: string): Pick<Stored, 'id' | 'rule' | 'scope' | 'status' | 'created_at'> {
  const status = ruleStatuses.find((one) => one === rule.status);
  if (status === undefined) throw new TypeError(`${path}.status: one of ${ruleStatuses.join(', ')}`);
  return {
    id: textOf(rule.id, `${path}.id`),
    rule: textOf(rule.rule, `${path}.rule`),
    scope: textOf(rule.scope, `${path}.scope`),
    status,
    created_at: textOf(rule.created_at, `${path}.created_at`),
  };
}

function proposalOf(rule: Fields, path: string): NoveltyLine['proposal'] {
  return {
    rule: textOf(rule.rule, `${path}.rule`),
    scope: textOf(rule.scope, `${path}.scope`),
    tags: textsOf(rule, 'tags'),
    failure_signatures: textsOf(rule, 'failure_signatures'),
  };
}

function searchedOf(rule: Fields, path: string): Searched {
  const { rationale = '', metric = null } = rule;
  return {
    ...coreOf(rule, path),
    rationale: textOf(rationale, `${path}.rationale`),
    metric: metric === null ? null : textOf(metric, `${path}.metric`),
    tags: textsOf(rule, 'tags'),
  };
}

/** Lists that may be left out. */
function textsOf(fields: Fields, name: string): string[] {
  return fields[name] === undefined ? [] : listOf(fields, name, textOf);
}
