import { z } from 'zod';
import { ruleTools } from '#contracts';
import type { ToolDefinition } from '#llm';

const ID_MAX = 255;
/** More than is stored of a text: what is too long is cut, not refused. */
const TEXT_MAX = 20_000;
const TAGS_MAX = 50;

const text = z.string().max(TEXT_MAX);
const noticeId = z.string().min(1).max(ID_MAX).describe('A notice of the assignment.');
const note = text.describe('One sentence for the people who run the agents.');

/** How an episode ends without a new rule. */
export const resolutions = ['duplicate', 'already_covered', 'no_proposal', 'unactionable'] as const;

/** The five tools that only the repair agent has. With the four reads they are all it can do. */
export const repairTools = {
  readNotice: {
    name: 'harness_notice_read',
    description: 'Reads one notice of the assignment with the report of its turn: scores, thresholds and reasons by trace.',
    input: z.object({ notice_id: noticeId }),
  },
  inspectTrace: {
    name: 'harness_trace_inspect',
    description: 'Reads one trace that a notice of the assignment flags: its request and answer, its tool calls, its scores.',
    input: z.object({ trace_id: z.string().min(1).max(ID_MAX).describe('A flagged trace of the assignment.') }),
  },
  addRule: {
    name: 'harness_rule_add',
    description:
      'Stores one new rule as a candidate; others try it out. One per episode. A proposal that is refused or that a rule covers already may be corrected and sent again.',
    input: z.object({
      rule: text.describe('The advice: what to do in which situation, in a sentence or two.'),
      rationale: text.describe('What goes wrong without it.'),
      metric: text.nullish().describe('The one metric that the rule is about, by its exact name; leave it out otherwise.'),
      tags: z.array(text).max(TAGS_MAX).nullish().describe('A few words by which it is found.'),
      scope: text
        .nullish()
        .describe('Where it belongs: `global`, one plain name of an application, workflow or domain, or `scoped`.'),
      scope_rationale: text.nullish().describe('Why it belongs there.'),
      applicability: z.enum(['global', 'topical', 'task']).nullish().describe('How far it reaches.'),
    }),
  },
  acknowledge: {
    name: 'harness_notice_ack',
    description: 'Ends the episode with the rule that was added in it. All notices of the assignment end together.',
    input: z.object({
      notice_id: noticeId,
      rule_id: z.string().min(1).max(ID_MAX).describe('The id that harness_rule_add answered.'),
      note: note.nullish(),
    }),
  },
  resolve: {
    name: 'harness_notice_resolve',
    description:
      'Ends the episode without a new rule: `duplicate` of an active rule, `already_covered` by a candidate, `no_proposal`, or `unactionable`. All notices of the assignment end together.',
    input: z.object({
      notice_id: noticeId,
      resolution: z.enum(resolutions),
      existing_rule_id: z
        .string()
        .max(ID_MAX)
        .nullish()
        .describe('The rule that says it already, for duplicate and already_covered.'),
      note,
    }),
  },
} as const;

/** What a model calls one of them with, once it fits. */
export type InputOf<K extends keyof typeof repairTools> = z.output<(typeof repairTools)[K]['input']>;

/** All nine, by the name under which a model calls them. */
const ALL = { ...repairTools, ...ruleTools };
export type ToolKey = keyof typeof ALL;

const BY_NAME = new Map<string, ToolKey>(Object.entries(ALL).map(([key, { name }]) => [name, key as ToolKey]));

export function toolNamed(name: string): ToolKey | undefined {
  return BY_NAME.get(name);
}

export function inputOf(key: ToolKey): z.ZodType {
  return ALL[key].input;
}

/** As a provider is told them. */
export const toolDefinitions: readonly ToolDefinition[] = Object.values(ALL).map(({ name, description, input }) => {
  const { $schema: _, ...parameters } = z.toJSONSchema(input) as Record<string, unknown>;
  return { name, description, parameters };
});
