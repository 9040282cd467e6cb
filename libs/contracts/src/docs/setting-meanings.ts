/** What settings do, where their schema does not say it, or says only what values mean. */
export const meanings: Readonly<Record<string, string>> = {
  tier1_metrics: 'Metrics of every trace of every turn; they feed the gate.',
  tier2_metrics: "Metrics of a turn's last trace, asked for when the gate fired.",
  tier3_metrics:
    "Metrics of a turn's last trace, asked for after a breach in tier 2, when `enable_tier3` is set. They never breach.",
  enable_tier3: 'Whether tier 3 is asked for.',
  circuit_breaker_window_s: 'Seconds that a notice counts for the breaker. An open breaker closes when the window is empty.',
  coalesce:
    '`fleet`: the same fault in several sessions is one incident, and only a notice that opens an incident counts for the breaker. `session`: every notice is its own.',
  capture_eval_cases: 'Whether a breach is kept as an evaluation case, in the transaction of its notice.',
  eval_case_max: 'Most evaluation cases of a project; beyond it the oldest failure goes.',
  report_wait_s:
    'Seconds that a report may wait for pending scores. Nothing is ever pending in this version (no judges), so it has no effect yet.',
  trace_wait_s: 'Seconds that a turn which names traces waits for them before it is scored on what is there, flagged `partial`.',
  revise_window_turns:
    'A report further behind the newest turn of its session than this is corrected in the table and the journal, and not published again.',
  nats_url: 'The NATS server, or several, separated by commas.',
  database_url: 'The Postgres database. The user in it must be a member of the roles of the services.',
  http_port: 'Port of the gateway. When it is the default one and taken, the next free one is used.',
  nats_server_bin: 'Path of the `nats-server` program of the embedded start.',
  http_host: 'Address on which the gateway listens. Other than loopback it needs an API key to exist.',
  data_dir: 'Folder of the embedded servers.',
  log_level: 'Least severe level that is logged. Logs are JSON lines on standard error.',
  shutdown_grace_s: 'Seconds that work in hand may take after SIGTERM.',
  max_attempts: 'Failures of its own after which a message becomes a dead letter.',
  ack_wait_ms: 'Milliseconds without a heartbeat after which JetStream delivers a message again.',
};
