import type { Trace, Turn } from '#contracts';
import { isRecord } from './json.js';
import { describe, notApplicable, scored, type CheckContext, type Fault, type Outcome } from './outcome.js';
import { answerState } from './text.js';
import { toolCalls, type ToolCall } from './tool-calls.js';

/**
 * The factors of the product. A healthy turn is 1, so a healthy session never stalls (gate_target 0.5); each failure
 * costs more than gate_drop (0.15). An answer that was not recorded costs less than that: switching content capture off
 * is not a regression. A turn without an answer stays at the target: an agent that only acts does not stall for it.
 */
export const FACTORS = {
  turnFailed: 0.2,
  turnAborted: 0.3,
  answerAbsent: 0.5,
  answerUnknown: 0.9,
  actedWithoutWords: 0.9,
  endedOnToolError: 0.4,
  toolErrorLeft: 0.7,
  toolOutcomeUnknown: 0.9,
  finalNotDone: 0.4,
} as const;

interface Fact {
  readonly factor: number;
  readonly code: string;
  readonly reason: string;
  readonly spans?: readonly string[];
}

/**
 * From recorded facts only: turn status x what the host says of its progress, or else x final answer x unrecovered tool
 * errors. Facts of the turn's end (status, error, end_state, a missing answer) count for its last trace alone.
 */
export function taskCompletion(trace: Trace, { turn }: CheckContext): Outcome {
  const last = isLastTrace(trace, turn);
  const calls = toolCalls(trace);
  const status = statusFact(trace, turn, last);
  const host = last ? hostFact(turn) : undefined;
  if (host === undefined && status === undefined && !hasEvidence(trace, turn, calls)) {
    return notApplicable('no_evidence', 'Neither a status nor an answer, a tool call or an end state was recorded.');
  }
  const own = [last ? notDoneFact(turn) : undefined, toolFact(calls), answerFact(trace, last, calls)];
  const facts = [status, ...(host === undefined ? own : [host])].filter((fact) => fact !== undefined);
  const value = facts.reduce((product, fact) => product * fact.factor, 1);
  const worst = facts.reduce<Fact | undefined>(
    (low, fact) => (low === undefined || fact.factor < low.factor ? fact : low),
    undefined,
  );
  const reason = facts.length === 0 ? 'The turn ended normally with an answer and without open tool errors.' : sentence(facts);
  return scored(
    value,
    worst?.code ?? 'ok',
    reason,
    facts.flatMap((fact) => fact.spans ?? []),
  );
}

function sentence(facts: readonly Fact[]): string {
  const text = facts.map((fact) => fact.reason).join(', and ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A trace that the turn does not hold (it came by another way) is judged with the turn's facts. */
function isLastTrace(trace: Trace, turn: Turn): boolean {
  const ids = turn.traces?.map((item) => item.trace_id) ?? [];
  return !ids.includes(trace.trace_id) || ids.at(-1) === trace.trace_id;
}

function statusFact(trace: Trace, turn: Turn, last: boolean): Fact | undefined {
  const failed: Fact = { factor: FACTORS.turnFailed, code: 'turn_failed', reason: 'the turn ended with an error' };
  if (last && (turn.status === 'error' || isRecord(turn.error))) return failed;
  if (trace.status === 'ERROR') return { ...failed, reason: 'the trace ended with an error' };
  if (last && turn.status === 'aborted')
    return { factor: FACTORS.turnAborted, code: 'turn_aborted', reason: 'the turn was aborted' };
  return undefined;
}

/** `progress` outranks `done`: in many environments done only says that the episode is over. */
function hostFact(turn: Turn): Fact | undefined {
  const progress = fraction(endState(turn).progress);
  if (progress !== undefined) return { factor: progress, code: 'host_progress', reason: `the host reports progress ${progress}` };
  return endState(turn).done === true ? { factor: 1, code: 'host_done', reason: 'the host reports the task done' } : undefined;
}

/** Before the end `done: false` says nothing: most turns of a task are not its last. */
function notDoneFact(turn: Turn): Fact | undefined {
  if (endState(turn).done !== false || turn.final !== true) return undefined;
  return { factor: FACTORS.finalNotDone, code: 'host_not_done', reason: 'the session ended with the task not done' };
}

function endState(turn: Turn): Record<string, unknown> {
  return isRecord(turn.end_state) ? turn.end_state : {};
}

/** Anything but a number in [0, 1] is not a progress, and is not bent into one. */
function fraction(value: unknown): number | undefined {
  const number = typeof value === 'bigint' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= 1 ? number : undefined;
}

function answerFact(trace: Trace, last: boolean, calls: readonly ToolCall[]): Fact | undefined {
  const state = answerState(trace);
  if (state === 'present') return undefined;
  if (state === 'absent' && endsOnToolCall(trace, calls)) {
    return {
      factor: FACTORS.actedWithoutWords,
      code: 'acted_without_words',
      reason: 'the turn ended on a tool call, without a final answer',
    };
  }
  if (state === 'absent' && last)
    return { factor: FACTORS.answerAbsent, code: 'no_answer', reason: 'the turn has no final answer' };
  return { factor: FACTORS.answerUnknown, code: 'answer_not_recorded', reason: 'no final answer was recorded' };
}

/**
 * Whether no model call follows the last tool call: the agent handed over by acting (a transfer, a submit), which is not the
 * same as a model that was asked for an answer and gave none. Without times the recorded order decides.
 */
function endsOnToolCall(trace: Trace, calls: readonly ToolCall[]): boolean {
  const last = calls.at(-1);
  if (last === undefined) return false;
  const at = trace.spans.findIndex((span) => span.span_id === last.spanId);
  const started = trace.spans[at]?.started_at;
  return !trace.spans.some((span, index) => {
    if (span.kind !== 'LLM') return false;
    return started === undefined || span.started_at === undefined ? index > at : span.started_at > started;
  });
}

/** A failed or doubtful call is recovered when the same tool succeeds later in the trace. */
function toolFact(calls: readonly ToolCall[]): Fact | undefined {
  const lastSuccess = new Map<string, number>();
  calls.forEach((call, at) => {
    if (!call.failed && !call.doubtful) lastSuccess.set(call.tool, at);
  });
  const left = calls.filter((call, at) => (call.failed || call.doubtful) && (lastSuccess.get(call.tool) ?? -1) < at);
  const open = left.filter(({ failed }) => failed);
  if (open.length === 0) return doubtFact(left);
  const faults: Fault[] = open.map((call) => ({ spanId: call.spanId, label: call.tool, why: 'failed', code: 'tool_error' }));
  const spans = open.map((call) => call.spanId);
  if (calls.at(-1)?.failed === true) {
    return {
      factor: FACTORS.endedOnToolError,
      code: 'ended_on_tool_error',
      reason: `the last tool call failed: ${describe(faults)}`,
      spans,
    };
  }
  return {
    factor: FACTORS.toolErrorLeft,
    code: 'tool_error_left',
    reason: `a tool error was not recovered: ${describe(faults)}`,
    spans,
  };
}

/** Missing evidence is never a perfect score. */
function doubtFact(calls: readonly ToolCall[]): Fact | undefined {
  if (calls.length === 0) return undefined;
  const faults: Fault[] = calls.map(({ spanId, tool }) => ({
    ...{ spanId, label: tool, code: 'tool_outcome_unknown' },
    why: 'answered with what reads like a failure',
  }));
  return {
    factor: FACTORS.toolOutcomeUnknown,
    code: 'tool_outcome_unknown',
    reason: `whether a tool call failed was not recorded: ${describe(faults)}`,
    spans: calls.map(({ spanId }) => spanId),
  };
}

function hasEvidence(trace: Trace, turn: Turn, calls: readonly ToolCall[]): boolean {
  const status = isSet(turn.status) || (isSet(trace.status) && trace.status !== 'UNSET');
  return status || calls.some((call) => call.outcomeKnown) || answerState(trace) !== 'unknown';
}

function isSet(value: string | null | undefined): boolean {
  return value !== undefined && value !== null;
}
