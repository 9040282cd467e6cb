import type { FieldProblem } from '../http/problem.js';

/** What to do about a bad field, by its name; said beside what is wrong with it. */
const ADVICE: Readonly<Record<string, string>> = {
  session_id: "send the session's own id, a text of 1 to 255 characters",
  turn_index: 'send the number of the turn in its session: 0, 1, 2, …',
  agent: 'send {"id": …}, or leave it out',
  status: 'send one of the values named, or leave it out',
  error: 'send {"type": …, "message": …}, or leave it out',
  rule_scope_hints: 'send at most 16 of {"key": …}, or leave it out',
  traces: 'send a list of {"trace_id": …, "started_at": …, "spans": […]}, or name them in trace_ids',
  trace_id: "send the trace's id, a text of 1 to 255 characters",
  span_id: "send the span's id, a text of 1 to 255 characters",
  started_at: 'send RFC 3339, or an integer in s, ms, us or ns since 1970',
  ended_at: 'send RFC 3339, or an integer in s, ms, us or ns since 1970, or leave it out',
  scores: 'send 1 to 50 of {"metric": …, "value": …}',
  metric: "send the metric's name",
  value: 'send a number, or null when there is none',
};
const WHOLE = 'send an object with at least session_id and turn_index';

export function advise({ path, message }: FieldProblem): FieldProblem {
  const name = path.split('.').at(-1) ?? '';
  const advice = path === '' ? WHOLE : Object.hasOwn(ADVICE, name) ? ADVICE[name] : undefined;
  return { path, message: advice === undefined || message.includes('send ') ? message : `${message}; ${advice}` };
}
