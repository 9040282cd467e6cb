import { createHash } from 'node:crypto';
import type { ReceivedSpan } from '#contracts';
import { derivedId } from '#domain/ids';
import { stringifyJson } from '#ingest';
import type { Transaction } from '#persistence';

export interface TraceKey {
  readonly project: string;
  readonly trace_id: string;
}

/** A span as it came, and how long its trace may stay without another one before it is looked at (seconds). */
export interface IncomingSpan {
  readonly project: string;
  readonly span: ReceivedSpan;
  /** Microseconds: the stream's time of its message. */
  readonly acceptedAt: number;
  readonly quietS: number;
}

export const tracesJson = (keys: readonly TraceKey[]): string =>
  JSON.stringify(keys.map(({ project, trace_id }) => ({ project, trace_id })));

/**
 * Keeps spans: a span is (project, trace, span), and the first one stays; another one with the same ids is journaled. What comes
 * when its trace has been scored is kept and flagged late. Returns the traces that may have changed, in key order.
 */
export async function keepSpans(tx: Transaction, incoming: readonly IncomingSpan[]): Promise<TraceKey[]> {
  const rows = distinct(incoming).map(({ project, span, acceptedAt, quietS }) => {
    const doc = stringifyJson(span);
    const { trace_id, span_id, parent_span_id: parent, ended_at: ended, session } = span;
    return {
      ...{ project, trace_id, span_id, doc, parent, ended: ended !== null, session: session?.id ?? null },
      ...{ explicit: session?.explicit ?? false, sha: createHash('sha256').update(doc).digest('hex'), acceptedAt, quietS },
    };
  });
  if (rows.length === 0) return [];
  await lockTraces(tx, rows);
  const inserted = await tx.query<TraceKey & { span_id: string; late: boolean }>(
    `INSERT INTO scoring.otel_spans (project, trace_id, span_id, sha, doc, parent, ended, session, explicit, late)
     SELECT r.project, r.trace_id, r.span_id, decode(r.sha, 'hex'), r.doc::jsonb, r.parent, r.ended, r.session, r.explicit, x.state IN ('scored', 'turned')
     FROM json_to_recordset($1::json) AS r(project text, trace_id text, span_id text, sha text, doc text, parent text, ended boolean, session text, explicit boolean)
     JOIN scoring.otel_traces x USING (project, trace_id) ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING project, trace_id, span_id, late`,
    [JSON.stringify(rows)],
  );
  if (inserted.length < rows.length) await journalConflicts(tx, rows);
  journalLate(tx, inserted);
  await refreshTraces(tx, rows);
  return traceKeys(rows);
}

function distinct(incoming: readonly IncomingSpan[]): IncomingSpan[] {
  const known = new Map<string, IncomingSpan>();
  for (const one of incoming) {
    const key = JSON.stringify([one.project, one.span.trace_id, one.span.span_id]);
    if (!known.has(key)) known.set(key, one);
  }
  return [...known.values()];
}

export function traceKeys(rows: readonly TraceKey[]): TraceKey[] {
  const known = new Map(rows.map(({ project, trace_id }) => [JSON.stringify([project, trace_id]), { project, trace_id }]));
  return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** Everybody who decides about a trace does it under its row, which is made where there is none, in key order. */
export async function lockTraces(tx: Transaction, keys: readonly (TraceKey & { readonly acceptedAt?: number })[]): Promise<void> {
  await tx.query(
    `INSERT INTO scoring.otel_traces (project, trace_id, accepted_us)
     SELECT project, trace_id, min(coalesce("acceptedAt", 0)) FROM json_to_recordset($1::json) AS r(project text, trace_id text, "acceptedAt" bigint)
     GROUP BY project, trace_id ORDER BY project, trace_id ON CONFLICT DO NOTHING`,
    [JSON.stringify(keys.map(({ project, trace_id, acceptedAt }) => ({ project, trace_id, acceptedAt })))],
  );
  await tx.query(
    `SELECT x.project FROM scoring.otel_traces x JOIN (SELECT DISTINCT project, trace_id FROM json_to_recordset($1::json) AS r(project text, trace_id text)) k
     USING (project, trace_id) ORDER BY x.project, x.trace_id FOR UPDATE OF x`,
    [tracesJson(keys)],
  );
}

interface Kept extends TraceKey {
  readonly span_id: string;
  readonly sha: string;
}

async function journalConflicts(tx: Transaction, rows: readonly Kept[]): Promise<void> {
  const stored = await tx.query<Kept>(
    `SELECT project, trace_id, span_id, encode(sha, 'hex') AS sha FROM scoring.otel_spans
     JOIN json_to_recordset($1::json) AS r(project text, trace_id text, span_id text) USING (project, trace_id, span_id)`,
    [JSON.stringify(rows.map(({ project, trace_id, span_id }) => ({ project, trace_id, span_id })))],
  );
  const kept = new Map(stored.map((one) => [JSON.stringify([one.project, one.trace_id, one.span_id]), one.sha]));
  for (const { project, trace_id, span_id, sha } of rows) {
    const first = kept.get(JSON.stringify([project, trace_id, span_id]));
    if (first === undefined || first === sha) continue;
    const id = derivedId('span_conflict', project, trace_id, span_id, sha);
    tx.journal({ id, project, type: 'span_conflict', doc: { trace_id, span_id, kept: first, refused: sha } });
  }
}

/** Once per trace: the spans themselves are flagged. */
function journalLate(tx: Transaction, inserted: readonly (TraceKey & { late: boolean })[]): void {
  for (const { project, trace_id } of traceKeys(inserted.filter(({ late }) => late)))
    tx.journal({ id: derivedId('late_spans', project, trace_id), project, type: 'late_spans', doc: { trace_id } });
}

/** What is known of a trace from its spans. One that nobody has claimed is looked at when it has been quiet for a while. */
async function refreshTraces(tx: Transaction, rows: readonly (TraceKey & { readonly quietS: number })[]): Promise<void> {
  await tx.query(
    `UPDATE scoring.otel_traces x SET spans = a.spans, root = a.root, orphans = a.orphans, session = a.session, explicit = a.explicit, last_at = now(),
       quiet_at = CASE WHEN x.state IN ('open', 'unassigned') THEN now() + make_interval(secs => k.quiet_s) END
     FROM (SELECT project, trace_id, max("quietS") AS quiet_s FROM json_to_recordset($1::json) AS r(project text, trace_id text, "quietS" float8) GROUP BY 1, 2) k
     CROSS JOIN LATERAL (
       SELECT count(*) AS spans, coalesce(bool_or(p.parent IS NULL AND p.ended), false) AS root, coalesce(bool_or(p.explicit), false) AS explicit,
         (array_agg(p.session ORDER BY p.explicit DESC, p.parent IS NOT NULL, p.span_id) FILTER (WHERE p.session IS NOT NULL))[1] AS session,
         count(*) FILTER (WHERE p.parent IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM scoring.otel_spans q WHERE q.project = p.project AND q.trace_id = p.trace_id AND q.span_id = p.parent)) AS orphans
       FROM scoring.otel_spans p WHERE p.project = k.project AND p.trace_id = k.trace_id) a
     WHERE x.project = k.project AND x.trace_id = k.trace_id`,
    [JSON.stringify(rows.map(({ project, trace_id, quietS }) => ({ project, trace_id, quietS })))],
  );
}

/** The spans of traces, by trace. */
export async function loadSpans(tx: Transaction, keys: readonly TraceKey[]): Promise<Map<string, ReceivedSpan[]>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<TraceKey & { doc: ReceivedSpan }>(
    `SELECT p.project, p.trace_id, p.doc FROM scoring.otel_spans p JOIN json_to_recordset($1::json) AS k(project text, trace_id text) USING (project, trace_id)
     ORDER BY p.project, p.trace_id, p.span_id`,
    [tracesJson(keys)],
  );
  const spans = new Map<string, ReceivedSpan[]>();
  for (const row of rows) {
    const own = spans.get(traceName(row));
    if (own === undefined) spans.set(traceName(row), [row.doc]);
    else own.push(row.doc);
  }
  return spans;
}

export function traceName({ project, trace_id }: TraceKey): string {
  return `${project}|${trace_id}`;
}
