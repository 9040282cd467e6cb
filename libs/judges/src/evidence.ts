import type { Span, Trace } from '#contracts';
import type { NotApplicable } from './metric.js';

export const noEvidence: NotApplicable = { code: 'no_evidence', reason: 'Nothing that the agent did or said was recorded.' };
export const noTask: NotApplicable = { code: 'no_task', reason: 'The trace does not show what the agent was asked.' };

/** Whether the trace holds anything that the agent did or said; a name and a time are not enough to judge by. */
export function isRecorded(trace: Trace): boolean {
  return isSet(trace.output) || trace.status === 'ERROR' || trace.spans.some(saysSomething);
}

function saysSomething(span: Span): boolean {
  return isSet(span.output) || isSet(span.error) || span.status === 'ERROR' || (span.kind === 'TOOL' && isSet(span.input));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
