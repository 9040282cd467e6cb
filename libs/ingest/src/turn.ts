import { turnEndedInput, type Span, type Trace, type Turn } from '#contracts';
import { redactSecrets, storable, taskSummary } from '#domain/text';
import { stringifyJson } from './json.js';
import { toEpochMicros, toIso } from './time.js';

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export type NormalisedTurn =
  | { readonly ok: true; readonly turn: Turn; readonly notes: readonly string[] }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

type Fields = Record<string, unknown>;

const TURN_FIELDS = new Set(Object.keys(turnEndedInput.shape));
const TRACE_FIELDS = new Set(['trace_id', 'name', 'started_at', 'ended_at', 'status', 'input', 'output', 'metadata', 'spans']);
const SPAN_FIELDS = new Set([
  ...[
    'span_id',
    'parent_span_id',
    'name',
    'kind',
    'status',
    'input',
    'output',
    'model',
    'token_usage',
    'error',
    'started_at',
    'ended_at',
    'metadata',
  ],
]);

/**
 * One way in for every turn, whichever door it came through: made storable, secrets redacted, checked, unknown fields moved
 * under `metadata`, times in microseconds, traces in (started_at, trace_id) order. The event's own id is dropped: a turn is
 * its session and index. Idempotent: a normalised turn comes out as it went in.
 */
export function normaliseTurn(value: unknown): NormalisedTurn {
  const { value: clean, notes } = storable(value);
  const parsed = turnEndedInput.safeParse(redactSecrets(clean));
  if (!parsed.success)
    return { ok: false, errors: parsed.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })) };
  const errors: FieldError[] = [];
  const { event_id: _, traces, ...rest } = parsed.data;
  const turn = withTimes(known(rest, TURN_FIELDS), '', errors) as unknown as Turn;
  if (turn.task_summary) turn.task_summary = taskSummary(turn.task_summary);
  if (traces !== null && traces !== undefined) turn.traces = tracesOf(traces, errors, notes);
  return errors.length > 0 ? { ok: false, errors } : { ok: true, turn, notes };
}

/**
 * A turn as it travels and is stored: JSON with times written out (RFC 3339), since the unit of a small integer would be told
 * anew, and perhaps otherwise, by whoever reads it next.
 */
export function stringifyTurn(turn: Turn): string {
  return stringifyJson(writtenTurn(turn));
}

/** The JSON value of that form. */
export function writtenTurn(turn: Turn): object {
  const { traces, ...rest } = turn;
  const written = traces?.map((trace) => ({ ...writtenOut(trace), spans: trace.spans.map(writtenOut) }));
  return written === undefined ? writtenOut(rest) : { ...writtenOut(rest), traces: written };
}

function writtenOut(timed: { readonly started_at?: number | undefined; readonly ended_at?: number | undefined }): object {
  const { started_at: started, ended_at: ended } = timed;
  if (started === undefined && ended === undefined) return timed;
  return {
    ...timed,
    ...(started === undefined ? {} : { started_at: toIso(started) }),
    ...(ended === undefined ? {} : { ended_at: toIso(ended) }),
  };
}

function tracesOf(traces: readonly Fields[], errors: FieldError[], notes: string[]): Trace[] {
  const distinct = new Map<string, Trace>();
  traces.forEach((trace, index) => {
    const path = `traces.${index}.`;
    const one = withTimes(known(trace, TRACE_FIELDS), path, errors) as unknown as Trace;
    one.spans = (trace['spans'] as Fields[]).map(
      (span, at) => withTimes(known(span, SPAN_FIELDS), `${path}spans.${at}.`, errors) as unknown as Span,
    );
    if (distinct.has(one.trace_id)) notes.push(`trace ${one.trace_id} came twice in one turn; the first is used`);
    else distinct.set(one.trace_id, one);
  });
  return [...distinct.values()].sort(byStart);
}

function byStart(a: Trace, b: Trace): number {
  return a.started_at - b.started_at || (a.trace_id < b.trace_id ? -1 : 1);
}

/** Fields we do not know are kept under `metadata`; null means absent. */
function known(fields: Fields, names: ReadonlySet<string>): Fields {
  const kept: Fields = {};
  let extra: Fields | undefined;
  for (const [name, value] of Object.entries(fields)) {
    if (!names.has(name)) extra = { ...extra, [name]: value };
    else if (value !== null && value !== undefined) kept[name] = value;
  }
  if (extra !== undefined) kept['metadata'] = { ...(kept['metadata'] as Fields | undefined), ...extra };
  return kept;
}

function withTimes(fields: Fields, path: string, errors: FieldError[]): Fields {
  for (const name of ['started_at', 'ended_at']) {
    const value = fields[name];
    if (value === undefined) continue;
    const micros = toEpochMicros(value);
    if (micros === undefined)
      errors.push({ path: `${path}${name}`, message: 'is no time: send RFC 3339, or an integer in s, ms, us or ns' });
    else fields[name] = micros;
  }
  return fields;
}
