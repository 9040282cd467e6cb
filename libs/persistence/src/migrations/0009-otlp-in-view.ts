import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `otel_spans.entry`: its parent may be in another process, and its SDK does not say. `otel_traces.late`: how many of its spans came when
 * it had been scored. `sessions.sent_turns`, `root_turns`: whether a turn of the session was sent, or made of a root span.
 */
const columns = `
ALTER TABLE scoring.otel_spans ADD COLUMN entry boolean NOT NULL DEFAULT false;
ALTER TABLE scoring.otel_traces ADD COLUMN late int NOT NULL DEFAULT 0;
UPDATE scoring.otel_traces x SET late = q.n
  FROM (SELECT project, trace_id, count(*) AS n FROM scoring.otel_spans WHERE late GROUP BY project, trace_id) q
  WHERE x.project = q.project AND x.trace_id = q.trace_id;
ALTER TABLE scoring.sessions ADD COLUMN sent_turns boolean NOT NULL DEFAULT false, ADD COLUMN root_turns boolean NOT NULL DEFAULT false;
CREATE TEMPORARY TABLE made_of_root_spans ON COMMIT DROP AS SELECT s, t FROM scoring.otel_traces WHERE state = 'turned' AND s IS NOT NULL;
UPDATE scoring.sessions x SET root_turns = true WHERE EXISTS (SELECT 1 FROM made_of_root_spans r WHERE r.s = x.s);
UPDATE scoring.sessions x SET sent_turns = true WHERE EXISTS (
  SELECT 1 FROM scoring.turns t WHERE t.s = x.s AND NOT EXISTS (SELECT 1 FROM made_of_root_spans r WHERE r.s = t.s AND r.t = t.t));`;

/** What the services are granted over the columns of this migration, in the words of migration 2. */
export const grantsOfOtlpInView: Readonly<Record<string, readonly string[]>> = {
  fm_scoring: [
    'UPDATE (parent, entry) ON scoring.otel_spans',
    'UPDATE (sent_turns, root_turns) ON scoring.sessions',
    'DELETE ON scoring.scores, scoring.judge_stages',
  ],
};

export class OtlpInView1764500000009 implements MigrationInterface {
  readonly name = 'OtlpInView1764500000009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(columns);
    for (const [role, allowed] of Object.entries(grantsOfOtlpInView))
      for (const grant of allowed) await runner.query(`GRANT ${grant} TO ${role}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE scoring.sessions DROP COLUMN sent_turns, DROP COLUMN root_turns;
       ALTER TABLE scoring.otel_traces DROP COLUMN late;
       REVOKE UPDATE (parent) ON scoring.otel_spans FROM fm_scoring;
       REVOKE DELETE ON scoring.scores, scoring.judge_stages FROM fm_scoring;
       ALTER TABLE scoring.otel_spans DROP COLUMN entry;`,
    );
  }
}
