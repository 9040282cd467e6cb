import type { Report, ReportScore } from '#contracts';

type AnyValue =
  | { readonly stringValue: string }
  | { readonly doubleValue: number }
  | { readonly intValue: string }
  | { readonly boolValue: boolean };

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** A log record of OTLP/JSON. Times are decimal nanoseconds; ids are hex. */
export interface LogRecord {
  readonly timeUnixNano: string;
  readonly severityNumber: number;
  readonly eventName: string;
  readonly traceId?: string;
  readonly attributes: readonly KeyValue[];
}

/** The event that the GenAI semantic conventions have for a score. */
const EVENT = 'gen_ai.evaluation.result';
const INFO = 9;
const TRACE_ID = /^[0-9a-f]{32}$/i;

/**
 * One event per value of a report (pending and not applicable ones are none). They stand in the trace they are about where its id is
 * one of OpenTelemetry's. A later revision tells all of its values again: `fleetmend.revision` says which, the highest counts.
 */
export function evaluationEvents(project: string, report: Report): LogRecord[] {
  return report.scores
    .filter(({ status }) => status === 'scored' || status === 'failed')
    .map((score) => event(project, report, score));
}

function event(project: string, report: Report, score: ReportScore): LogRecord {
  const { trace_id: trace, value, reason, code, status } = score;
  const known: readonly (readonly [string, string | number | boolean | null])[] = [
    ['gen_ai.evaluation.name', score.metric],
    ['gen_ai.evaluation.score.value', value],
    ['gen_ai.evaluation.score.label', labelOf(score)],
    ['gen_ai.evaluation.explanation', reason],
    ['gen_ai.conversation.id', report.session_id],
    ['error.type', status === 'failed' ? (code ?? 'failed') : null],
    ['fleetmend.project', project],
    ['fleetmend.turn_index', report.turn_index],
    ['fleetmend.revision', report.revision],
    ['fleetmend.tier', score.tier],
    ['fleetmend.source', score.source],
    ['fleetmend.evaluator', score.evaluator],
    ['fleetmend.trace_id', trace],
  ];
  return {
    timeUnixNano: `${report.accepted_at}000`,
    severityNumber: INFO,
    eventName: EVENT,
    ...(trace !== null && TRACE_ID.test(trace) ? { traceId: trace.toLowerCase() } : {}),
    attributes: known.flatMap(([key, one]) => (one === null ? [] : [{ key, value: anyValue(key, one) }])),
  };
}

/** What the value means: the conditions that it fired, or that it fired none. */
function labelOf({ conditions, status }: ReportScore): string {
  if (status === 'failed') return 'failed';
  return conditions.length === 0 ? 'ok' : conditions.join(',');
}

function anyValue(key: string, value: string | number | boolean): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return key.endsWith('.value') ? { doubleValue: value } : { intValue: String(value) };
}
