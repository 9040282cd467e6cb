import { z } from 'zod';
import {
  candidatesQuery,
  editRuleRequest,
  manyRulesChanged,
  manyRulesRequest,
  retireRuleRequest,
  ruleRecord,
  ruleRecordsQuery,
  ruleTools,
  withdrawRuleRequest,
} from '#contracts';
import { ok, pageOf } from './answers.js';
import { defineRoute, type Answer, type Named } from './route.js';

const format = z
  .enum(['json', 'md'])
  .optional()
  .describe('`md`: as a skill file; the header `Accept: text/markdown` asks for the same.');
const rulePath = z.object({ id: z.string().min(1).max(64) });
const record: Named = { name: 'RuleRecord', schema: ruleRecord };
const changed: readonly [Answer, ...Answer[]] = [
  ok(record, 'The rule as it is now.'),
  { status: 404, description: 'The project has no such rule.' },
  { status: 409, description: 'Not from the state that it is in; the detail says why.' },
];
const manyChanged: readonly [Answer, ...Answer[]] = [
  ok({ name: 'ManyRulesChanged', schema: manyRulesChanged }, 'The rules that it changed; none when there was nothing to change.'),
];
const operatorRoute = <const Name extends string, S extends z.ZodType>(action: Name, summary: string, name: string, schema: S) =>
  ({
    method: 'POST',
    path: `/v1/rules/ids/:id/${action}`,
    summary,
    access: ['operate'],
    params: rulePath,
    body: { name, schema, optional: true },
    answers: changed,
  }) as const;

/** What agents read of rules, and what operators see of them and do. */
export const ruleRoutes = {
  listRules: defineRoute({
    id: 'listRules',
    method: 'GET',
    path: '/v1/rules',
    summary: `${ruleTools.list.description} With \`q\`: ${ruleTools.search.description} The session is named by the header Fleetmend-Session.`,
    access: ['rules:read'],
    query: z.strictObject({
      q: z.string().max(1_000).optional().describe('Searches instead of listing.'),
      limit: z.coerce.number().int().min(1).max(50).optional().describe('Rules that a search answers at most; default 10.'),
      format,
    }),
    answers: [
      ok(
        { name: 'RulesListOrFound', schema: z.union([ruleTools.list.output, ruleTools.search.output]) },
        'The scopes; with `q`, the rules that were found. With its ETag in If-None-Match: 304 while nothing changed for this session.',
      ),
    ],
  }),
  readRuleScope: defineRoute({
    id: 'readRuleScope',
    method: 'GET',
    path: '/v1/rules/scopes/:scope',
    summary: ruleTools.read.description,
    access: ['rules:read'],
    params: z.object({ scope: z.string().min(1).max(200) }),
    query: z.strictObject({ format }),
    answers: [ok({ name: 'RuleScope', schema: ruleTools.read.output }, 'The rules of the scope. ETag as above.')],
  }),
  readRuleStatus: defineRoute({
    id: 'readRuleStatus',
    method: 'GET',
    path: '/v1/rules/ids/:id',
    summary: ruleTools.status.description,
    access: ['rules:read'],
    params: rulePath,
    answers: [
      ok({ name: 'RuleStatus', schema: ruleTools.status.output }, '`known` is false for an id that this reader cannot read.'),
    ],
  }),
  listRuleRecords: defineRoute({
    id: 'listRuleRecords',
    method: 'GET',
    path: '/v1/rules/inventory',
    summary: 'All rules with everything that is known of them, newest first. For operators: it knows no arms.',
    access: ['observe'],
    query: ruleRecordsQuery,
    answers: [ok(pageOf('RuleRecord', ruleRecord), 'A page of rules.')],
  }),
  readRuleRecord: defineRoute({
    id: 'readRuleRecord',
    method: 'GET',
    path: '/v1/rules/inventory/:id',
    summary: 'One rule with everything that is known of it.',
    access: ['observe'],
    params: rulePath,
    answers: [ok(record, 'The rule.')],
  }),
  listCandidates: defineRoute({
    id: 'listCandidates',
    method: 'GET',
    path: '/v1/candidates',
    summary: 'Rules that are on trial, or held before it, newest first.',
    access: ['observe'],
    query: candidatesQuery,
    answers: [ok(pageOf('RuleRecord', ruleRecord), 'A page of candidates.')],
  }),
  retireRule: defineRoute({
    id: 'retireRule',
    ...operatorRoute('retire', 'Ends a rule for good; the reason is kept.', 'RetireRule', retireRuleRequest),
    body: { name: 'RetireRule', schema: retireRuleRequest },
  }),
  withdrawRule: defineRoute({
    id: 'withdrawRule',
    ...operatorRoute(
      'withdraw',
      'Hides a rule from every read within a second, until it is restored.',
      'WithdrawRule',
      withdrawRuleRequest,
    ),
  }),
  restoreRule: defineRoute({
    id: 'restoreRule',
    ...operatorRoute('restore', 'Makes a withdrawn rule readable again.', 'WithdrawRule', withdrawRuleRequest),
  }),
  approveRule: defineRoute({
    id: 'approveRule',
    ...operatorRoute('approve', 'Lets a held candidate start its trial.', 'WithdrawRule', withdrawRuleRequest),
  }),
  editRule: defineRoute({
    id: 'editRule',
    method: 'POST',
    path: '/v1/rules/ids/:id/edit',
    summary: 'Writes a new candidate that is this rule with the given parts changed, and retires this one.',
    access: ['operate'],
    params: rulePath,
    body: { name: 'EditRule', schema: editRuleRequest },
    answers: [
      ok(record, 'The new candidate.', 201),
      { status: 404, description: 'The project has no such rule.' },
      { status: 409, description: 'It is retired, or another rule says the same already; the detail names it.' },
      { status: 422, description: 'A text, scope or metric is refused; `errors` says which and why.' },
    ],
  }),
  withdrawRules: defineRoute({
    id: 'withdrawRules',
    method: 'POST',
    path: '/v1/rules/withdraw',
    summary: 'The kill switch: hides the rules of a scope, or all of the project, from every read within a second.',
    access: ['operate'],
    body: { name: 'ManyRules', schema: manyRulesRequest },
    answers: manyChanged,
  }),
  restoreRules: defineRoute({
    id: 'restoreRules',
    method: 'POST',
    path: '/v1/rules/restore',
    summary: 'Makes the withdrawn rules of a scope, or all of the project, readable again.',
    access: ['operate'],
    body: { name: 'ManyRules', schema: manyRulesRequest },
    answers: manyChanged,
  }),
} as const;
