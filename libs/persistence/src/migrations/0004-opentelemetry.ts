import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `named_traces.taken`: null while the turn has nothing of the trace, false when it was not whole. */
const tables = `
CREATE TABLE scoring.otel_spans (
  project text NOT NULL, trace_id text NOT NULL, span_id text NOT NULL, sha bytea NOT NULL, doc jsonb NOT NULL, parent text, ended boolean NOT NULL,
  started bigint NOT NULL, session text, explicit boolean NOT NULL DEFAULT false, late boolean NOT NULL DEFAULT false,
  at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (project, trace_id, span_id));
CREATE INDEX otel_spans_parent ON scoring.otel_spans (project, trace_id, parent) WHERE parent IS NOT NULL;
CREATE INDEX otel_spans_session ON scoring.otel_spans (project, trace_id, explicit DESC, (parent IS NOT NULL), started, span_id) WHERE session IS NOT NULL;
CREATE TABLE scoring.otel_traces (
  project text NOT NULL, trace_id text NOT NULL, session text, explicit boolean NOT NULL DEFAULT false, root boolean NOT NULL DEFAULT false,
  orphans int NOT NULL DEFAULT 0, spans int NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0,
  state text NOT NULL DEFAULT 'open', reason text, s uuid, t bigint,
  accepted_us bigint NOT NULL DEFAULT 0, quiet_at timestamptz, first_at timestamptz NOT NULL DEFAULT now(), last_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (project, trace_id));
CREATE INDEX otel_traces_quiet ON scoring.otel_traces (quiet_at) WHERE quiet_at IS NOT NULL;
CREATE INDEX otel_traces_recent ON scoring.otel_traces (project, last_at DESC, trace_id);
CREATE TABLE scoring.named_traces (
  project text NOT NULL, trace_id text NOT NULL, s uuid NOT NULL, t bigint NOT NULL, taken boolean,
  PRIMARY KEY (project, trace_id, s, t));
CREATE INDEX named_traces_of_turn ON scoring.named_traces (s, t);`;

/** What the services are granted over the tables of this migration, in the words of migration 2. */
export const grantsOfOpenTelemetry: Readonly<Record<string, readonly string[]>> = {
  fm_scoring: [
    'SELECT, INSERT ON scoring.otel_spans, scoring.named_traces',
    'UPDATE (sha, doc, ended, started, session, explicit) ON scoring.otel_spans',
    'SELECT, INSERT, UPDATE ON scoring.otel_traces',
    'UPDATE (taken) ON scoring.named_traces',
    'UPDATE (body) ON scoring.turn_bodies',
  ],
  fm_gateway: ['SELECT ON scoring.otel_spans, scoring.otel_traces, scoring.named_traces'],
};

export class OpenTelemetry1764500000004 implements MigrationInterface {
  readonly name = 'OpenTelemetry1764500000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(tables);
    for (const [role, allowed] of Object.entries(grantsOfOpenTelemetry))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE scoring.otel_spans, scoring.otel_traces, scoring.named_traces');
  }
}
