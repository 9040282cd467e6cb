import type { Notice, Report, ReportScore, ScopeHint } from '#contracts';
import { recommendedScope } from '../episodes/index.js';
import { alertingScores } from '../report/index.js';
import { sanitize } from '../text/index.js';
import { noticeSeverity } from './golden.js';

export type NoticeContent = Pick<
  Notice,
  'signatures' | 'severity' | 'summary' | 'metrics' | 'flagged_traces' | 'scope_hints' | 'recommended_scope'
>;

const TRACES_SHOWN = 5;

/** What a notice about a report says (BEHAVIOUR 4). All text from outside is sanitised. */
export function composeNotice(report: Omit<Report, 'revision'>, hints: readonly ScopeHint[]): NoticeContent {
  const metrics = alertingScores(report.scores, report.signatures).map(metricOf);
  return {
    signatures: [...report.signatures].sort(),
    // What fired says how bad it is; a repeated notice, for which nothing fired, is as bad as what stands.
    severity: noticeSeverity(report.fired.length > 0 ? report.fired : report.signatures),
    summary: summaryOf(metrics, report),
    metrics,
    flagged_traces: report.flagged_traces,
    scope_hints: hints.map((hint) => ({
      ...hint,
      key: sanitize(hint.key),
      ...(hint.description ? { description: sanitize(hint.description) } : {}),
    })),
    recommended_scope: recommendedScope(hints.map(({ key, recommended }) => (recommended === true ? key : null))),
  };
}

function metricOf({
  metric,
  tier,
  trace_id,
  value,
  threshold,
  reason,
  code,
  conditions,
}: ReportScore): Notice['metrics'][number] {
  return { metric, tier, trace_id, value, threshold, reason: reason === null ? null : sanitize(reason), code, conditions };
}

/** `metric=0.31 [stall, threshold 0.50]` for each alerting score, then the flagged traces, five at most. */
function summaryOf(
  metrics: NoticeContent['metrics'],
  { signatures, flagged_traces: traces }: Pick<Report, 'signatures' | 'flagged_traces'>,
): string {
  const parts = metrics.map(({ metric, value, threshold, conditions }) => {
    const shown = conditions.length > 0 ? conditions : standingOf(metric, signatures);
    const about = [...shown, ...(threshold === null ? [] : [`threshold ${threshold.toFixed(2)}`])].join(', ');
    return `${metric}=${value === null ? 'none' : value.toFixed(2)} [${about}]`;
  });
  const named = traces.slice(0, TRACES_SHOWN).join(', ');
  return sanitize([parts.join('; '), named === '' ? '' : `traces ${named}`].filter((part) => part !== '').join('; '));
}

/** When nothing fired in this turn, the conditions of the metric that still stand. */
function standingOf(metric: string, signatures: readonly string[]): string[] {
  return signatures.filter((one) => one.endsWith(`:${metric}`)).map((one) => one.slice(0, one.indexOf(':')));
}
