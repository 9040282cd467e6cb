import { z } from 'zod';
import { defineEvent } from './event.js';

/** What happened to a rule, for operators. Agents never see these: they hold ids and scopes. */
const ruleLife = z.object({
  rule_id: z.string(),
  scope: z.string(),
  /** The project's rules are at this version now. */
  version: z.int().min(1),
  /** Who did it: a service, or an operator's key. */
  by: z.string(),
  reason: z.string().nullable(),
  episode_id: z.string().nullable(),
});

const life = (change: string, publishers: readonly string[], summary: string) =>
  defineEvent({
    type: `rule.${change}`,
    stream: 'FM_RULES',
    summary,
    publishers,
    audience: 'outside',
    tail: ['scope'],
    schema: ruleLife,
  });

export const ruleCandidate = life(
  'candidate',
  ['repair', 'gateway'],
  'A rule was written; it is on trial, or held for an operator.',
);
export const rulePromoted = life('promoted', ['validation'], 'A rule has earned its place.');
export const ruleRetired = life('retired', ['validation', 'gateway'], 'A rule is not delivered any more, for good.');
export const ruleWithdrawn = life('withdrawn', ['gateway'], 'An operator hid a rule from every read, until it is restored.');
export const ruleRestored = life('restored', ['gateway'], 'A withdrawn rule is readable again.');

export const ruleChanged = defineEvent({
  type: 'rule.changed',
  stream: 'FM_RULES',
  summary: 'The rules of a project are at a new version: caches of agents are out of date. The same for every session.',
  publishers: ['repair', 'validation', 'gateway'],
  audience: 'outside',
  tail: [],
  schema: z.object({ version: z.int().min(1) }),
});

export const ruleExposed = defineEvent({
  type: 'rule.exposed',
  stream: 'FM_EXPOSURES',
  summary:
    'A session read a scope or searched: which rules the answer held, and which it would have held were they not withheld.',
  publishers: ['gateway'],
  audience: 'services',
  tail: [],
  schema: z.object({
    /** Names the read: the same read told twice is one exposure. */
    read_id: z.string(),
    session_id: z.string(),
    /** The turn in which it was read, when the reader said so. */
    turn_index: z.int().min(0).nullable(),
    kind: z.enum(['read', 'search']),
    version: z.int().min(0),
    rule_ids: z.array(z.string()),
    withheld_ids: z.array(z.string()),
    /** Microseconds since the epoch, by the gateway's clock. */
    at: z.int(),
  }),
});
export type RuleExposed = z.output<(typeof ruleExposed)['schema']>;
