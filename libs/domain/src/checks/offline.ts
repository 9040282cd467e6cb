import type { Score, Span, Tool, Trace, Turn } from '#contracts';
import { isRecord, parseJson } from './json.js';
import { checkedMetrics, runCheck } from './run-check.js';

/** The line is not one that can be scored; the message says what is missing. */
export class ScoreLineError extends Error {}

type Fields = Record<string, unknown>;

const KINDS: readonly Span['kind'][] = ['AGENT', 'TOOL', 'LLM', 'RETRIEVER', 'CHAIN', 'EMBEDDING'];

/**
 * Scores one line of the offline command without any server: `{trace, tools?, request?, metrics?, earlier_answers?}`,
 * as text or parsed; `status`, `error`, `end_state` and `final` of the turn may stand beside them. Default metrics: all
 * checks. Times, ids, kinds and statuses may be missing. Throws ScoreLineError when there is no trace in it.
 */
export function answerScoreLine(line: unknown): { scores: Score[] } {
  const fields = typeof line === 'string' ? parseJson(line)?.value : line;
  if (!isRecord(fields)) throw new ScoreLineError('A line must be one JSON object with a field "trace".');
  if (!isRecord(fields.trace)) throw new ScoreLineError('The field "trace" must be an object with "spans".');
  const given = toTrace(fields.trace);
  const trace = fields.request === undefined ? given : { ...given, input: fields.request };
  const context = { turn: toTurn(fields, trace), earlierAnswers: texts(fields.earlier_answers, 'earlier_answers') };
  const metrics = fields.metrics === undefined ? checkedMetrics : texts(fields.metrics, 'metrics');
  return { scores: metrics.map((metric) => runCheck(metric, trace, context)) };
}

function texts(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new ScoreLineError(`The field "${field}" must be a list of texts.`);
}

function toTurn(fields: Fields, trace: Trace): Turn {
  const status = fields.status;
  return {
    session_id: 'offline',
    turn_index: 0,
    traces: [trace],
    tools: toTools(fields.tools),
    end_state: fields.end_state,
    final: fields.final === true,
    ...(status === 'completed' || status === 'error' || status === 'aborted' ? { status } : {}),
    ...(isRecord(fields.error) ? { error: fields.error } : {}),
  };
}

/** The plain shape, or OpenAI's `{type: 'function', function: {...}}`. */
function toTools(value: unknown): Tool[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const tool = isRecord(entry) && isRecord(entry.function) ? entry.function : entry;
    if (!isRecord(tool) || typeof tool.name !== 'string') return [];
    return [{ name: tool.name, ...(isRecord(tool.parameters) ? { parameters: tool.parameters } : {}) }];
  });
}

function toTrace(fields: Fields): Trace {
  const spans: unknown[] = Array.isArray(fields.spans) ? fields.spans : [];
  return {
    trace_id: typeof fields.trace_id === 'string' ? fields.trace_id : 'trace',
    started_at: microseconds(fields.started_at) ?? 0,
    input: fields.input,
    output: fields.output,
    ...statusOf(fields.status),
    spans: spans.filter(isRecord).map(toSpan),
  };
}

function toSpan(fields: Fields, index: number): Span {
  const started = microseconds(fields.started_at);
  const ended = microseconds(fields.ended_at);
  return {
    span_id: typeof fields.span_id === 'string' ? fields.span_id : `span-${index}`,
    name: typeof fields.name === 'string' ? fields.name : '',
    kind: KINDS.find((kind) => kind === fields.kind) ?? 'OTHER',
    status: 'UNSET',
    ...statusOf(fields.status),
    input: fields.input,
    output: fields.output,
    error: fields.error,
    ...(typeof fields.parent_span_id === 'string' ? { parent_span_id: fields.parent_span_id } : {}),
    ...(started === undefined ? {} : { started_at: started }),
    ...(ended === undefined ? {} : { ended_at: ended }),
    ...(isRecord(fields.metadata) ? { metadata: fields.metadata } : {}),
  };
}

function statusOf(status: unknown): { status?: Span['status'] } {
  return status === 'OK' || status === 'ERROR' || status === 'UNSET' ? { status } : {};
}

/** Seconds, milliseconds, microseconds or nanoseconds, told by size (as in CONTRACTS 3), or RFC 3339. Only the order counts here. */
function microseconds(value: unknown): number | undefined {
  if (typeof value === 'string' && !/^\d+$/.test(value)) {
    const parsed = Date.parse(value);
    return Number.isNaN(parsed) ? undefined : parsed * 1000;
  }
  const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined;
  if (number < 1e11) return number * 1e6;
  if (number < 1e14) return number * 1e3;
  return number < 1e17 ? number : number / 1e3;
}
