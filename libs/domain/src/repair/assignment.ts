import { boundTaskDescriptor, fenced, redactSecrets, taskSummary, type Fenced } from '../text/index.js';
import type { EpisodeFacts, RepairNotice } from './episode-facts.js';
import { outsidePart, outsideText, outsideValue } from './outside-text.js';
import { metricView } from './views.js';

/** Notices whose details are told at once; the others by id, to be read. */
const DETAILED_MAX = 10;
const METRICS_MAX = 10;
const HINTS_MAX = 16;
const REASON_MAX = 600;
const DESCRIPTOR_MAX = 4_000;
const POLICY_MAX = 4_000;

export interface AssignmentFacts extends EpisodeFacts {
  readonly episodeId: string;
  /** The host's precise recommendation. */
  readonly recommendedScope: string | null;
  readonly domainPolicy: string | null;
}

/**
 * What the model is given to work on: bounded, without secrets, sanitised, and between tags that nothing inside can close. All of it is
 * material from outside, the domain's policy included.
 */
export function assignment(facts: AssignmentFacts): Fenced {
  const { notices, task_summary: summary, recommendedScope, domainPolicy } = facts;
  const told = {
    episode_id: facts.episodeId,
    notices: notices.slice(0, DETAILED_MAX).map(noticeOf),
    further_notice_ids: notices.slice(DETAILED_MAX).map(({ id }) => id),
    scope_hints: hintsOf(notices),
    recommended_scope: recommendedScope,
    task_summary: typeof summary === 'string' ? taskSummary(outsideText(summary)) : null,
    task: descriptorOf(facts),
  };
  const policy = outsidePart(domainPolicy, POLICY_MAX) ?? '';
  return fenced([
    { name: 'assignment', text: JSON.stringify(told, null, 1) },
    ...(policy === '' ? [] : [{ name: 'domain_policy', text: policy }]),
  ]);
}

function noticeOf(notice: RepairNotice): Record<string, unknown> {
  const { id, severity, signatures, summary, metrics, flagged_traces } = notice;
  return {
    ...{ notice_id: id, severity, signatures, summary: outsideText(summary, REASON_MAX) },
    metrics: metrics
      .slice(0, METRICS_MAX)
      .map((metric) => ({ ...metricView(metric), reason: outsidePart(metric.reason, REASON_MAX) })),
    flagged_trace_ids: flagged_traces,
  };
}

function hintsOf(notices: readonly RepairNotice[]): unknown[] {
  const hints = new Map(notices.flatMap(({ scope_hints: of }) => of).map((hint) => [hint.key, hint]));
  return [...hints.values()].slice(0, HINTS_MAX).map(({ key, description, recommended }) => ({
    ...{ scope: outsideText(key, 200), description: outsidePart(description, 300), recommended: recommended === true },
  }));
}

/** What the host said about the task. Its summary is told by itself. */
function descriptorOf({ end_state, agent_version, model }: EpisodeFacts): unknown {
  return outsideValue(boundTaskDescriptor(redactSecrets({ end_state, agent_version, model }), DESCRIPTOR_MAX), DESCRIPTOR_MAX);
}
