import { z } from 'zod';

const RULE_ID_MAX = 64;
const SCOPE_MAX = 48;
const QUERY_MAX = 1_000;
export const RULES_SEARCH_MAX = 50;

/** Times are integer microseconds since the epoch. `version`: of the project's rules, the same for every reader. */
const version = z.int().min(0);
const note = z.string().nullable().describe('Said when there is nothing to show, or more than is shown.');

const shownRule = z.object({
  id: z.string(),
  rule: z.string(),
  rationale: z.string(),
  source: z.string().nullable().describe('The episode that it was learned from.'),
});
const foundRule = z.object({ id: z.string(), scope: z.string(), score: z.number(), snippet: z.string() });

/** Active rules, and candidates apart under words that say what they are. */
const answerOf = <Shown extends z.ZodType>(shown: Shown) => ({
  rules: z.array(shown),
  provisional: z.object({ heading: z.string(), rules: z.array(shown) }).nullable(),
  note,
});

/**
 * The four reads of rules, declared once: NATS, HTTP, MCP, the repair agent and the client derive from it. Read-only. The list never
 * holds a rule's text.
 */
export const ruleTools = {
  list: {
    name: 'harness_rules_list',
    description:
      'Lists the scopes that have advice learned from earlier work, with a sentence about each and how many rules it has. No rule text.',
    input: z.strictObject({}),
    output: z.object({
      version,
      scopes: z.array(z.object({ scope: z.string(), description: z.string(), active: z.int(), candidates: z.int() })),
      note,
    }),
  },
  read: {
    name: 'harness_rules_read',
    description: 'Reads the advice of one scope. Without a scope: the advice that holds everywhere.',
    input: z.strictObject({
      scope: z.string().max(SCOPE_MAX).nullish().describe('A scope exactly as harness_rules_list shows it; default `global`.'),
    }),
    output: z.object({ version, scope: z.string(), description: z.string(), ...answerOf(shownRule) }),
  },
  search: {
    name: 'harness_rules_search',
    description: 'Finds advice by a few words about the task or the problem, over all scopes, best first.',
    input: z.strictObject({
      query: z.string().trim().min(1).max(QUERY_MAX).describe('A few words about the task or the problem.'),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(RULES_SEARCH_MAX)
        .nullish()
        .describe('How many rules at most, 1 to 50; default 10.'),
    }),
    output: z.object({ version, ...answerOf(foundRule) }),
  },
  status: {
    name: 'harness_rule_status',
    description: 'Says whether one rule still holds: candidate (on trial), active or retired. No rule text.',
    input: z.strictObject({ rule_id: z.string().min(1).max(RULE_ID_MAX).describe('The id of a rule.') }),
    output: z.object({
      version,
      id: z.string(),
      known: z.boolean(),
      scope: z.string().nullable(),
      status: z.enum(['candidate', 'active', 'retired']).nullable(),
      created_at: z.int().nullable(),
    }),
  },
} as const;
export type RuleTool = keyof typeof ruleTools;
export type RuleToolInput<T extends RuleTool> = z.output<(typeof ruleTools)[T]['input']>;
export type RuleToolOutput<T extends RuleTool> = z.output<(typeof ruleTools)[T]['output']>;
