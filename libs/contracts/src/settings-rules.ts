import { z } from 'zod';

const seconds = z.number().min(0);
const count = z.int().min(0);

/** Whether candidates of a scope start their trial at once, wait for an operator, or wait whether one objects. */
export const reviewModes = ['auto', 'approve', 'veto'] as const;
export type ReviewMode = (typeof reviewModes)[number];

/** In `rule_review`: every scope that is not named. */
export const EVERY_SCOPE = '*';

const scopeName = z
  .string()
  .regex(
    /^(\*|[a-z0-9]([a-z0-9._-]{0,46}[a-z0-9])?)$/,
    'a scope is 1 to 48 of a-z, 0-9, ".", "_" and "-", begins and ends with a letter or digit; "*" stands for all others',
  );

/** Settings of a project about repairs, the rules they write, and who reads them. */
export const rulesShape = {
  repair_model: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .nullable()
    .default(null)
    .describe('The model that repairs. None is picked by default: without one, episodes wait.'),
  repair_temperature: z
    .number()
    .min(0)
    .max(2)
    .nullable()
    .default(null)
    .describe('Temperature of the repair model; null: not sent.'),
  repair_reasoning_effort: z
    .string()
    .trim()
    .min(1)
    .max(20)
    .nullable()
    .default('none')
    .describe('Sent to repair models that are known to take it; null: never sent.'),
  repair_timeout_s: z.number().positive().max(3_600).default(60).describe('Seconds that one repair run may take.'),
  repair_max_turns: z.int().min(1).max(100).default(6).describe('Requests to the model that one repair run may make.'),
  repair_max_tokens: z.int().min(1).default(4_096).describe('Output tokens that one repair run may use.'),
  repair_attempts: z.int().min(1).max(100).default(5).describe('Failed runs of an episode after which it waits for an operator.'),
  max_repairs_per_hour: count
    .default(60)
    .describe('Most repair runs of the project in an hour that ask a model; over it episodes wait. 0: no limit.'),
  trace_repair_agent: z
    .boolean()
    .default(false)
    .describe('Whether each repair run is exported as a trace of its own, where `repair_traces_url` says.'),
  domain_policy: z
    .string()
    .max(4_000)
    .nullable()
    .default(null)
    .describe('What holds in the domain of the agents, told to the repair model: rules must not go against it.'),
  max_active_rules: count.default(0).describe('Most live rules (active and candidate) of the project; 0: no limit.'),
  rule_review: z
    .record(scopeName, z.enum(reviewModes))
    .default({})
    .describe(
      'Per scope (`*`: all others), what happens to a new candidate: `auto` starts its trial at once, `approve` waits for an operator, `veto` waits `rule_veto_h` for an objection.',
    ),
  rule_veto_h: z
    .number()
    .positive()
    .max(720)
    .default(24)
    .describe('Hours that operators have to object to a candidate under `veto`.'),
  trial_allocation: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.5)
    .describe('Share of the sessions that see a candidate; from the others it is withheld.'),
  barrier_timeout_s: seconds.default(180).describe('Seconds that a settle waits at most.'),
};

const address = z.url({ protocol: /^https?$/ });

/** Settings of a process that say where the repair model is. */
export const repairProcessShape = {
  repair_base_url: address
    .default('https://api.openai.com/v1')
    .describe('The OpenAI-compatible endpoint of repair models. It is called for projects that set `repair_model` only.'),
  repair_api_key: z.string().optional().describe('The key for `repair_base_url`.'),
  repair_headers: z.record(z.string(), z.string()).default({}).describe('Further headers for `repair_base_url`.'),
  max_concurrent_repairs: z.int().min(1).max(1_000).default(4).describe('Repair runs that one process has in progress at once.'),
  repair_traces_url: address
    .optional()
    .describe(
      'Where traces of repair runs go (`trace_repair_agent`): the traces endpoint of a collector, OTLP/HTTP, for example `http://127.0.0.1:4318/v1/traces`.',
    ),
  repair_traces_headers: z.record(z.string(), z.string()).default({}).describe('Headers for `repair_traces_url`.'),
};
