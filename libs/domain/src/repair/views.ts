import type { EpisodeFacts, RecordedScore, RecordedSpan, RepairNotice, TraceFacts } from './episode-facts.js';
import { outsidePart, outsideText } from './outside-text.js';

const SCORES_MAX = 50;
const SPANS_MAX = 40;
const TOOLS_MAX = 100;
const NAME_MAX = 200;

/** What `harness_notice_read` answers: the notice, and the report of its turn by trace. */
export function noticeView(notice: RepairNotice, { report }: EpisodeFacts): Record<string, unknown> {
  const { id, severity, signatures, summary, metrics, flagged_traces: flagged } = notice;
  return {
    ...{ notice_id: id, severity, signatures, summary: outsideText(summary), flagged_trace_ids: flagged },
    metrics: metrics.slice(0, SCORES_MAX).map(metricView),
    report: report === null ? null : { severity: report.severity, fired: report.fired, traces: tracesOf(report.scores) },
  };
}

/** One alerting metric of a notice. */
export function metricView(metric: RepairNotice['metrics'][number]): Record<string, unknown> {
  const { metric: name, value, threshold, conditions, reason, trace_id, tier } = metric;
  return { metric: name, tier, value, threshold, conditions, reason: outsidePart(reason), trace_id };
}

type ReportScores = NonNullable<EpisodeFacts['report']>['scores'];

function tracesOf(scores: ReportScores): Record<string, unknown>[] {
  const traces = new Map<string | null, Record<string, unknown>[]>();
  for (const score of scores.slice(0, SCORES_MAX)) {
    const { trace_id: trace, metric, tier, status, value, threshold, conditions, reason } = score;
    const of = traces.get(trace) ?? [];
    of.push({ metric, tier, status, value, threshold, conditions, reason: outsidePart(reason) });
    traces.set(trace, of);
  }
  return [...traces].map(([trace_id, of]) => ({ trace_id, scores: of }));
}

/** What `harness_trace_inspect` answers: the trace, its tool spans and its scores, each part bounded. */
export function traceView({ trace_id, trace, tools, scores }: TraceFacts): Record<string, unknown> {
  const spans = (trace?.spans ?? []).filter(({ kind }) => kind === 'TOOL');
  const shown = mostTelling(spans);
  return {
    trace_id,
    recorded: trace !== null,
    ...(trace === null
      ? {}
      : {
          ...{ name: outsidePart(trace.name, NAME_MAX), status: trace.status ?? null },
          ...{ input: outsidePart(trace.input), output: outsidePart(trace.output) },
        }),
    tool_calls: shown.map(spanView),
    tool_calls_left_out: spans.length - shown.length,
    tools_offered: (tools ?? []).slice(0, TOOLS_MAX).map(({ name }) => outsidePart(name, NAME_MAX)),
    scores: scores.slice(0, SCORES_MAX).map(scoreView),
  };
}

/** Those that failed go before others where not all have room; the order stays. */
function mostTelling(spans: readonly RecordedSpan[]): readonly RecordedSpan[] {
  if (spans.length <= SPANS_MAX) return spans;
  const failing = spans.filter(hasFailed);
  const others = spans.filter((span) => !hasFailed(span));
  const chosen = new Set([...failing, ...others].slice(0, SPANS_MAX));
  return spans.filter((span) => chosen.has(span));
}

function hasFailed({ status, error }: RecordedSpan): boolean {
  return status === 'ERROR' || (error !== undefined && error !== null);
}

function spanView({ span_id, name, status, input, output, error }: RecordedSpan): Record<string, unknown> {
  const parts = { input: outsidePart(input), output: outsidePart(output), error: outsidePart(error) };
  return { span_id, tool: outsideText(name, NAME_MAX), status, ...parts };
}

function scoreView({ metric, tier, status, value, reason, code, spans }: RecordedScore): Record<string, unknown> {
  return { metric, tier, status, value, code, reason: outsidePart(reason), span_ids: spans.slice(0, SPANS_MAX) };
}
