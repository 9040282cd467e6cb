import { z } from 'zod';
import { metricProblems } from './metric-problems.js';
import { repairProcessShape, rulesShape } from './settings-rules.js';
import { replaysShape, trialsShape } from './settings-trials.js';
import { modelShape, scoringShape } from './settings-scoring.js';

const metricName = z.string();
/** `metric`, or `metric@source` for one source of its values (for example `coherence@lexical`). */
const gatedMetric = z.string();

const unit = z.number().min(0).max(1);
const seconds = z.number().min(0);
const count = z.int().min(0);

const gateShape = {
  gate_window: z.int().describe('Turns without gain after which a session below gate_target stalls; less than 1 means 1.'),
  gate_target: z.number().describe('A session whose peak reached this never stalls.'),
  gate_gain: z.number().min(0).describe('How far a value must rise above the peak to be progress.'),
  gate_drop: z.number().min(0).describe('How far below its peak a value must fall to be a regression.'),
};

const projectShape = z.strictObject({
  gate_window: gateShape.gate_window.default(5),
  gate_target: gateShape.gate_target.default(0.5),
  gate_gain: gateShape.gate_gain.default(0.02),
  gate_drop: gateShape.gate_drop.default(0.15),
  gate_overrides: z
    .record(gatedMetric, z.strictObject(gateShape).partial())
    .default({})
    .describe('Other gate settings for one metric, or one metric@source. A target for coherence@lexical lets that source alert.'),
  tier1_metrics: z
    .array(metricName)
    .default(['task_completion', 'coherence'])
    .describe('Metrics of every trace of every turn; they feed the gate.'),
  tier2_metrics: z
    .array(metricName)
    .default(['tool_correctness', 'argument_correctness'])
    .describe("Metrics of a turn's last trace, asked for when the gate fired."),
  tier3_metrics: z
    .array(metricName)
    .default(['plan_adherence', 'plan_quality', 'step_efficiency'])
    .describe(
      "Metrics of a turn's last trace, asked for after a breach in tier 2, when `enable_tier3` is set. They never breach.",
    ),
  enable_tier3: z.boolean().default(false).describe('Whether tier 3 is asked for.'),
  thresholds: z.record(metricName, unit).default({}).describe('Per metric; a value strictly below it breaches.'),
  alert_cooldown_turns: z
    .int()
    .default(0)
    .describe('Turns after which a problem that still stands is posted again; 0 or less: never.'),
  circuit_breaker_max_notices: count.default(5).describe('Notices in the window after which the breaker opens; 0: no breaker.'),
  circuit_breaker_window_s: seconds
    .default(600)
    .describe('Seconds that a notice counts for the breaker. An open breaker closes when the window is empty.'),
  coalesce: z
    .enum(['session', 'fleet'])
    .default('fleet')
    .describe(
      '`fleet`: the same fault in several sessions is one incident, and only a notice that opens an incident counts for the breaker. `session`: every notice is its own.',
    ),
  observe_only: z.boolean().default(false).describe('Shadow mode: everything is evaluated and journaled, nothing is posted.'),
  capture_eval_cases: z
    .boolean()
    .default(false)
    .describe('Whether a breach is kept as an evaluation case, in the transaction of its notice.'),
  eval_case_max: count
    .default(200)
    .describe('Most evaluation cases of a project; beyond it the oldest failure goes. 0: unlimited.'),
  trace_wait_s: seconds
    .default(30)
    .describe('Seconds that a turn which names traces waits for them before it is scored on what is there, flagged `partial`.'),
  otlp_turns: z
    .enum(['named', 'root_span'])
    .default('named')
    .describe(
      '`named`: a turn that has ended names the traces that came over OpenTelemetry. `root_span`: the end of a root span ends a turn of its session.',
    ),
  otlp_quiet_s: seconds
    .default(5)
    .describe(
      'Seconds without a further span after which a trace is taken for whole whose root span has ended, or, where the parent is in another service, the span that serves the request.',
    ),
  revise_window_turns: count
    .default(50)
    .describe(
      'A report further behind the newest turn of its session than this is corrected in the table and the journal, and not published again.',
    ),
  ...scoringShape,
  ...rulesShape,
  ...trialsShape,
  ...replaysShape,
});

/** Settings that a project may change for itself. Every one has a default, so `{}` is a complete project. */
export const projectSettings = projectShape.superRefine((settings, context) => {
  for (const { path, message } of metricProblems(settings)) context.addIssue({ code: 'custom', path, message });
});
export type ProjectSettings = z.output<typeof projectSettings>;

/** What a settings file or a project's row holds: any part of them. */
export type ProjectSettingsPatch = z.input<typeof projectSettings>;

/** Settings of a process: from the settings file or `FLEETMEND_*`, never from a project. */
export const processSettings = z.strictObject({
  nats_url: z.string().optional().describe('The NATS server, or several, separated by commas. Also NATS_URL.'),
  database_url: z
    .string()
    .optional()
    .describe('The Postgres database. The user in it must be a member of the roles of the services. Also DATABASE_URL.'),
  http_host: z
    .string()
    .default('127.0.0.1')
    .describe('Address on which the gateway listens. Other than loopback it needs an API key to exist.'),
  http_port: z
    .int()
    .min(0)
    .max(65_535)
    .default(4320)
    .describe('Port of the gateway. When it is the default one and taken, the next free one is used. 0: any free port.'),
  data_dir: z.string().default('.fleetmend').describe('Folder of the embedded servers.'),
  nats_server_bin: z
    .string()
    .optional()
    .describe('Path of the `nats-server` program of the embedded start. Also NATS_SERVER_BIN.'),
  log_level: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .describe('Least severe level that is logged. Logs are JSON lines on standard error.'),
  shutdown_grace_s: seconds.default(20).describe('Seconds that work in hand may take after SIGTERM.'),
  max_attempts: z.int().min(1).default(5).describe('Failures of its own after which a message becomes a dead letter.'),
  ack_wait_ms: z
    .int()
    .min(500)
    .default(10_000)
    .describe('Milliseconds without a heartbeat after which JetStream delivers a message again.'),
  ...modelShape,
  ...repairProcessShape,
});
export type ProcessSettings = z.output<typeof processSettings>;

export const PROJECT_PATTERN = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const projectName = z
  .string()
  .regex(PROJECT_PATTERN, 'a project is 1 to 63 of a-z, 0-9 and -, and begins with a letter or digit');
export const DEFAULT_PROJECT = 'default';

export const keyScopes = ['ingest', 'rules:read', 'observe', 'operate'] as const;
export type KeyScope = (typeof keyScopes)[number];
