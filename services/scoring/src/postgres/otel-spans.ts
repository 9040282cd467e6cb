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
 * Keeps spans: a span is (project, trace, span), and the first version of it that has ended stays; another one is journaled. What comes
 * when its trace has been scored is kept and flagged late. Returns the traces that may have changed, in key order: known spans
 * change nothing, but what hung on them may not have been done when they come again.
 */
export async function keepSpans(tx: Transaction, incoming: readonly IncomingSpan[]): Promise<TraceKey[]> {
  const rows = distinct(incoming).map(rowOf);
  if (rows.length === 0) return [];
  await lockTraces(tx, rows);
  const kept = await tx.query<KeptSpan>(
    `INSERT INTO scoring.otel_spans (project, trace_id, span_id, sha, doc, parent, entry, ended, started, session, explicit, late)
     SELECT r.project, r.trace_id, r.span_id, decode(r.sha, 'hex'), r.doc::jsonb, r.parent, r.entry, r.ended, r.started, r.session, r.explicit, x.state IN ('scored', 'turned')
     FROM json_to_recordset($1::json) AS r(project text, trace_id text, span_id text, sha text, doc text, parent text, entry boolean, ended boolean, started bigint, session text, explicit boolean)
     JOIN scoring.otel_traces x USING (project, trace_id) ORDER BY 1, 2, 3
     ON CONFLICT (project, trace_id, span_id) DO UPDATE SET sha = excluded.sha, doc = excluded.doc, ended = true, started = excluded.started,
       session = excluded.session, explicit = excluded.explicit, entry = excluded.entry
       WHERE NOT otel_spans.ended AND excluded.ended AND NOT excluded.late AND otel_spans.parent IS NOT DISTINCT FROM excluded.parent
     RETURNING project, trace_id, span_id, late, xmax = 0 AS fresh`,
    [JSON.stringify(rows)],
  );
  if (kept.length < rows.length) await journalConflicts(tx, rows);
  journalLate(tx, kept);
  await refreshTraces(tx, rows, kept);
  return traceKeys(rows);
}

/** A time that we gave differs each time the span comes. */
const TIME_OF_RECEIPT = 'the time of receipt';

function rowOf({ project, span, acceptedAt, quietS }: IncomingSpan) {
  const doc = stringifyJson(span);
  const { trace_id, span_id, parent_span_id: parent, started_at: started, ended_at, session, entry = false } = span;
  const same = JSON.stringify(span.metadata.notes ?? '').includes(TIME_OF_RECEIPT)
    ? stringifyJson({ ...span, started_at: null, ended_at: null })
    : doc;
  return {
    ...{ project, trace_id, span_id, doc, parent, entry, ended: ended_at !== null, started, session: session?.id ?? null },
    ...{ explicit: session?.explicit ?? false, sha: createHash('sha256').update(same).digest('hex'), acceptedAt, quietS },
    bytes: Buffer.byteLength(doc),
  };
}

type SpanRow = ReturnType<typeof rowOf>;

/** Of two versions in one batch the one that has ended. */
function distinct(incoming: readonly IncomingSpan[]): IncomingSpan[] {
  const known = new Map<string, IncomingSpan>();
  for (const one of incoming) {
    const key = spanName({ project: one.project, ...one.span });
    const first = known.get(key)?.span;
    if (first === undefined || (first.ended_at === null && one.span.ended_at !== null)) known.set(key, one);
  }
  return [...known.values()];
}

const spanName = ({ project, trace_id, span_id }: TraceKey & { readonly span_id: string }): string =>
  JSON.stringify([project, trace_id, span_id]);

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

interface KeptSpan extends TraceKey {
  readonly span_id: string;
  readonly late: boolean;
  /** A new span; else the end of one that had been sent at its start. */
  readonly fresh: boolean;
}

async function journalConflicts(tx: Transaction, rows: readonly SpanRow[]): Promise<void> {
  const stored = await tx.query<TraceKey & { span_id: string; sha: string; ended: boolean }>(
    `SELECT project, trace_id, span_id, encode(sha, 'hex') AS sha, ended FROM scoring.otel_spans
     JOIN json_to_recordset($1::json) AS r(project text, trace_id text, span_id text) USING (project, trace_id, span_id)`,
    [JSON.stringify(rows.map(({ project, trace_id, span_id }) => ({ project, trace_id, span_id })))],
  );
  const kept = new Map(stored.map((one) => [spanName(one), one]));
  for (const { project, trace_id, span_id, sha, ended } of rows) {
    const first = kept.get(spanName({ project, trace_id, span_id }));
    // What was sent at its start is no other version of what has ended.
    if (first === undefined || first.sha === sha || (first.ended && !ended)) continue;
    const id = derivedId('span_conflict', project, trace_id, span_id, sha);
    tx.journal({ id, project, type: 'span_conflict', doc: { trace_id, span_id, kept: first.sha, refused: sha } });
  }
}

/** Once per trace: the spans themselves are flagged. */
function journalLate(tx: Transaction, inserted: readonly (TraceKey & { late: boolean })[]): void {
  for (const { project, trace_id } of traceKeys(inserted.filter(({ late }) => late)))
    tx.journal({ id: derivedId('late_spans', project, trace_id), project, type: 'late_spans', doc: { trace_id } });
}

/**
 * What is known of a trace from its spans, by what has come: counting all of them again would make a long trace dearer with each span.
 * One that nobody has claimed, or that is waited for and has no whole, is looked at when it has been quiet for a while. `bytes` counts a span again that was sent at its start.
 */
async function refreshTraces(tx: Transaction, rows: readonly SpanRow[], kept: readonly KeptSpan[]): Promise<void> {
  if (kept.length === 0) return;
  const known = new Map(kept.map((one) => [spanName(one), one]));
  const changed = rows.flatMap(({ project, trace_id, span_id, parent, ended, bytes, quietS }) => {
    const one = known.get(spanName({ project, trace_id, span_id }));
    if (one === undefined) return [];
    return [{ project, trace_id, span_id, parent, ended, bytes, quiet_s: quietS, fresh: one.fresh, late: one.fresh && one.late }];
  });
  await tx.query(
    `WITH r AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json)
       AS r(project text, trace_id text, span_id text, parent text, ended boolean, bytes bigint, quiet_s float8, fresh boolean, late boolean)),
     k AS (SELECT r.project, r.trace_id, max(r.quiet_s) AS quiet_s, sum(r.bytes) AS bytes, count(*) FILTER (WHERE r.fresh) AS spans, count(*) FILTER (WHERE r.late) AS late,
         bool_or(r.parent IS NULL AND r.ended) AS root,
         count(*) FILTER (WHERE r.fresh AND r.parent IS NOT NULL AND NOT EXISTS (
           SELECT 1 FROM scoring.otel_spans q WHERE q.project = r.project AND q.trace_id = r.trace_id AND q.span_id = r.parent)) AS lost
       FROM r GROUP BY 1, 2),
     f AS (SELECT r.project, r.trace_id, count(*) AS found FROM r JOIN scoring.otel_spans p ON p.project = r.project AND p.trace_id = r.trace_id AND p.parent = r.span_id
       WHERE r.fresh AND NOT EXISTS (SELECT 1 FROM r own WHERE own.fresh AND own.project = p.project AND own.trace_id = p.trace_id AND own.span_id = p.span_id)
       GROUP BY 1, 2)
     UPDATE scoring.otel_traces x SET spans = x.spans + k.spans, bytes = x.bytes + k.bytes, late = x.late + k.late, root = x.root OR k.root,
       orphans = x.orphans + k.lost - coalesce(f.found, 0), session = n.session, explicit = coalesce(n.explicit, false), last_at = now(),
       quiet_at = CASE WHEN x.state IN ('open', 'unassigned') OR (x.state = 'named' AND x.orphans + k.lost - coalesce(f.found, 0) > 0)
         THEN now() + make_interval(secs => k.quiet_s) END
     FROM k LEFT JOIN f USING (project, trace_id) LEFT JOIN LATERAL (
       SELECT p.session, p.explicit FROM scoring.otel_spans p WHERE p.project = k.project AND p.trace_id = k.trace_id AND p.session IS NOT NULL
       ORDER BY p.explicit DESC, p.parent IS NOT NULL, p.started, p.span_id LIMIT 1) n ON true
     WHERE x.project = k.project AND x.trace_id = k.trace_id`,
    [JSON.stringify(changed)],
  );
}

/**
 * Traces have been quiet: a span that serves a request, and whose parent has not come, has it in another process that does not send its
 * spans here, and is a root. Where another span waits for a parent too, that may be a span which has not ended yet, and nothing is
 * decided.
 */
export async function takeEntriesForRoots(tx: Transaction, keys: readonly TraceKey[]): Promise<void> {
  if (keys.length === 0) return;
  await lockTraces(tx, keys);
  await tx.query(
    `WITH k AS (SELECT x.project, x.trace_id FROM scoring.otel_traces x JOIN json_to_recordset($1::json) AS r(project text, trace_id text) USING (project, trace_id)
       WHERE x.orphans > 0 AND x.quiet_at <= now() AND x.state IN ('open', 'unassigned', 'named')),
     e AS (SELECT p.project, p.trace_id, p.span_id, count(*) OVER (PARTITION BY p.project, p.trace_id) AS n FROM scoring.otel_spans p JOIN k USING (project, trace_id)
       WHERE p.entry AND p.ended AND p.parent IS NOT NULL AND NOT EXISTS (
         SELECT 1 FROM scoring.otel_spans q WHERE q.project = p.project AND q.trace_id = p.trace_id AND q.span_id = p.parent)),
     u AS (UPDATE scoring.otel_traces x SET root = true, orphans = 0 FROM (SELECT DISTINCT project, trace_id, n FROM e) c
       WHERE x.project = c.project AND x.trace_id = c.trace_id AND x.orphans = c.n RETURNING x.project, x.trace_id)
     UPDATE scoring.otel_spans p SET parent = NULL FROM e JOIN u USING (project, trace_id)
     WHERE p.project = e.project AND p.trace_id = e.trace_id AND p.span_id = e.span_id`,
    [tracesJson(keys)],
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
