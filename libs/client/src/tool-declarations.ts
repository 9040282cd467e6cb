import type { RuleTool } from '../../contracts/src/rule-tools.js';

/** A tool as every model API wants it; `parameters` is a JSON Schema. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * The four read tools. Written out, since the contracts' own declaration needs zod and an agent should not have to load it; a test
 * compares the two.
 */
export const toolDeclarations: Readonly<Record<RuleTool, ToolDeclaration>> = {
  list: {
    name: 'harness_rules_list',
    description:
      'Lists the scopes that have advice learned from earlier work, with a sentence about each and how many rules it has. No rule text.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
  read: {
    name: 'harness_rules_read',
    description: 'Reads the advice of one scope. Without a scope: the advice that holds everywhere.',
    parameters: {
      type: 'object',
      properties: {
        scope: {
          description: 'A scope exactly as harness_rules_list shows it; default `global`.',
          anyOf: [{ type: 'string', maxLength: 48 }, { type: 'null' }],
        },
      },
      additionalProperties: false,
    },
  },
  search: {
    name: 'harness_rules_search',
    description: 'Finds advice by a few words about the task or the problem, over all scopes, best first.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 1_000, description: 'A few words about the task or the problem.' },
        limit: {
          description: 'How many rules at most, 1 to 50; default 10.',
          anyOf: [{ type: 'integer', minimum: 1, maximum: 50 }, { type: 'null' }],
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
  },
  status: {
    name: 'harness_rule_status',
    description: 'Says whether one rule still holds: candidate (on trial), active or retired. No rule text.',
    parameters: {
      type: 'object',
      properties: { rule_id: { type: 'string', minLength: 1, maxLength: 64, description: 'The id of a rule.' } },
      required: ['rule_id'],
      additionalProperties: false,
    },
  },
};
