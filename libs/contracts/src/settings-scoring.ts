import { z } from 'zod';
import { evaluatorKinds } from './metrics.js';

const unit = z.number().min(0).max(1);
const seconds = z.number().min(0);
const count = z.int().min(0);
const model = z.string().trim().min(1).max(200).nullable().default(null);

/** Where something is called over HTTP. A name or a password in it would be read by all who read the setting, and named in errors. */
const address = z.url({ protocol: /^https?$/ }).refine((text) => {
  if (!URL.canParse(text)) return true;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}, 'holds a user or a password: give a key or a header instead');

const CHOICES_MAX = 20;

const choices = z
  .record(z.string().min(1).max(100), unit)
  .refine((values) => Object.keys(values).every((name) => name.trim() !== ''), 'an answer to choose needs a name')
  .refine((values) => {
    const count = Object.keys(values).length;
    return count >= 2 && count <= CHOICES_MAX;
  }, `a choice has 2 to ${CHOICES_MAX} answers`);

/** How the answer of a judge that a project registers becomes a value in [0, 1]. */
export const judgeOutput = z.discriminatedUnion('kind', [
  z
    .strictObject({ kind: z.literal('score'), min: z.number().default(0), max: z.number().default(1) })
    .refine(({ min, max }) => min < max, 'the smallest score must be less than the largest')
    .refine(({ min, max }) => Number.isFinite(max - min), 'the scores are too far apart to be told from each other'),
  z.strictObject({ kind: z.literal('boolean') }),
  z.strictObject({ kind: z.literal('choice'), values: choices }),
]);

/** What the prompt of such a judge may ask for, as `{{name}}`. */
export const judgePlaceholders = ['request', 'answer', 'trace', 'tools', 'task_summary', 'end_state'] as const;

const judgePrompt = z
  .string()
  .min(1)
  .max(20_000)
  .refine((text) => unknownPlaceholders(text).length === 0, {
    error: ({ input }) =>
      `{{${unknownPlaceholders(String(input)).join('}}, {{')}}} is not known; there are ${judgePlaceholders.map((name) => `{{${name}}}`).join(', ')}`,
  })
  .refine((text) => namesIn(text).length > 0, {
    error: 'shows the judge nothing of the turn: use for example {{request}} and {{answer}}',
  });

function unknownPlaceholders(text: string): string[] {
  return namesIn(text).filter((name) => !(judgePlaceholders as readonly string[]).includes(name));
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{\{([^{}]*)\}\}/g)].map(([, name]) => (name ?? '').trim());
}

/** A metric that a project registers. */
export const ownMetric = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('judge'), prompt: judgePrompt, output: judgeOutput }),
  z.strictObject({
    kind: z.literal('webhook'),
    url: address,
    timeout_s: z.number().positive().max(600).default(30),
  }),
  z.strictObject({ kind: z.literal('responder'), timeout_s: z.number().positive().max(600).default(30) }),
  z.strictObject({ kind: z.literal('host') }),
]);
export type OwnMetric = z.output<typeof ownMetric>;

/** Settings of a project that say who scores a turn, how, and for how much. */
export const scoringShape = {
  judge_model: model.describe(
    'The model that judges. None is picked by default: without one, metrics are checked by code, and those that have no check are not measured.',
  ),
  judge_samples: z.int().min(1).max(9).default(1).describe('How often a judge is asked for one value; the median counts.'),
  confirm_breach: z.boolean().default(true).describe('A breach in tier 2 is judged twice more, and the median decides.'),
  embedding_model: model.describe(
    'The model whose embeddings make `coherence`; `local` is one that runs in the scoring service, slowly. Without one, coherence is lexical.',
  ),
  evaluators: z
    .record(z.string(), z.enum(evaluatorKinds))
    .default({})
    .describe(
      'Who makes the values of a metric. Default: the host when it sent one, else the model when one is set, else the check.',
    ),
  metrics: z
    .record(z.string(), ownMetric)
    .default({})
    .describe(
      'Metrics of the project itself, by name: a judge (`prompt`, `output`), a `webhook`, a NATS `responder`, or `host` (values that the host sends). A tier has to name them.',
    ),
  accept_host_outcome: z
    .boolean()
    .default(false)
    .describe('Whether `outcome_correct` in the scores of a turn itself counts. It is the word of the agent about itself.'),
  eval_sample_every: z
    .int()
    .min(1)
    .default(1)
    .describe('Every how many turns of a session one is scored: 3 means turns 1, 4, 7.'),
  session_min_eval_interval_s: seconds
    .default(0)
    .describe('Seconds between two scored turns of a session; those that come sooner are skipped.'),
  max_evals: count.default(0).describe('Most turns of the project that are scored in `budget_window_h`; 0: no limit.'),
  budget_window_h: z.number().positive().default(24).describe('Hours of the budget `max_evals`, from the first turn on.'),
  max_cost_usd: z
    .number()
    .min(0)
    .default(0)
    .describe(
      'Most US dollars that models may cost the project in a day (UTC); 0: no limit. Refused for a model without a price.',
    ),
  report_wait_s: seconds
    .default(60)
    .describe('Seconds that a tier waits for its values before it is answered with the rest pending.'),
  score_retry_h: z.number().positive().default(24).describe('Hours after which a value that could not be had is given up.'),
  verify_timeout_s: z.number().positive().max(600).default(10).describe('Seconds that a verifier may take for an answer.'),
};

const price = z.strictObject({
  input: z.number().min(0).describe('US dollars for a million input tokens'),
  output: z.number().min(0).default(0).describe('US dollars for a million output tokens'),
});

/** Settings of a process that say where models are. A project that could name an endpoint would be handed the key for it. */
export const modelShape = {
  judge_base_url: address
    .default('https://api.openai.com/v1')
    .describe('The OpenAI-compatible endpoint of judges. It is called for projects that set `judge_model` only.'),
  judge_api_key: z.string().optional().describe('The key for `judge_base_url`.'),
  judge_headers: z.record(z.string(), z.string()).default({}).describe('Further headers for `judge_base_url`.'),
  judge_timeout_s: z.number().positive().default(60).describe('Seconds that one request to a model may take.'),
  embedding_base_url: address
    .optional()
    .describe('The OpenAI-compatible endpoint of embeddings; default: that of judges, with its key and headers.'),
  embedding_api_key: z.string().optional().describe('The key for `embedding_base_url`.'),
  embedding_headers: z.record(z.string(), z.string()).default({}).describe('Further headers for `embedding_base_url`.'),
  max_concurrent_evals: z
    .int()
    .min(1)
    .max(1_000)
    .default(4)
    .describe(
      'Evaluations by a judge that one scoring process has in progress at once; as many again by each other kind of evaluator.',
    ),
  model_prices: z
    .record(z.string(), price)
    .default({})
    .describe('Prices of models by name, over the built-in list (`docs/models.md`).'),
  scores_out_url: address
    .optional()
    .describe(
      'Where scores go as `gen_ai.evaluation.result` events: the logs endpoint of a collector, OTLP/HTTP, for example `http://127.0.0.1:4318/v1/logs`. `fleetmend migrate` has to know it too.',
    ),
  scores_out_headers: z.record(z.string(), z.string()).default({}).describe('Headers for `scores_out_url`.'),
  webhook_hosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Hosts (`host` or `host:port`) that webhooks of metrics may call. Empty: none, so that a project cannot reach into the network.',
    ),
};
