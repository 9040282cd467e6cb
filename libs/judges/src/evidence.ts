import type { Span, Trace } from '#contracts';
import type { NotApplicable } from './metric.js';

export const noEvidence: NotApplicable = { code: 'no_evidence', reason: 'Nothing that the agent did or said was recorded.' };
export const noTask: NotApplicable = { code: 'no_task', reason: 'The trace does not show what the agent was asked.' };

/** Whether the trace holds anything that the agent did or said; a name and a time are not enough to judge by. */
export function isRecorded(trace: Trace): boolean {
  return isSet(trace.output) || trace.status === 'ERROR' || trace.spans.some(saysSomething);
}

function saysSomething(span: Span): boolean {
  return isSet(span.output) || isSet(span.error) || span.status === 'ERROR' || isCall(span);
}

/** A tool that was called is something done, whatever it was called with. */
function isCall({ kind, input }: Span): boolean {
  return kind === 'TOOL' && input !== undefined && input !== null && input !== '';
}

/** Blanks, and wrappers around nothing, say nothing. */
function isSet(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== '';
  if (typeof value !== 'object' || value === null) return value !== undefined && value !== null && value !== false;
  const members = Object.entries(value).filter(([name]) => !WRAPPER.has(name));
  return members.some(([, member]) => isSet(member));
}

const WRAPPER: ReadonlySet<string> = new Set(['role', 'type', 'id', 'finish_reason', 'index']);
