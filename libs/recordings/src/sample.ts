import { clockFrom, type Clock } from './clock.js';
import { sampleSessions, sampleTools, type SampleCall, type SampleSession, type SampleTurn } from './sample-sessions.js';
import type { SpanInput, TurnInput } from './shapes.js';

/** Seconds set aside for one turn in the synthetic times; more than its spans need. */
const TURN_SECONDS = 30;

/**
 * Thirty turns of a support desk in three sessions, written by hand: one healthy; one that stalls, since it keeps calling
 * a tool with wrong arguments; one that starts well, falls back and recovers. The same on every call and machine.
 */
export function sampleTurns(): TurnInput[] {
  return sampleSessions.flatMap((session) => session.turns.map((turn, index) => toTurn(session, turn, index)));
}

function toTurn(session: SampleSession, turn: SampleTurn, index: number): TurnInput {
  const id = `${session.id}-t${String(index).padStart(2, '0')}`;
  const clock = clockFrom();
  const at: Clock = { at: (second) => clock.at(index * TURN_SECONDS + second) };
  const started = at.at(0);
  const ended = at.at(2 * turn.calls.length + 2);
  const spans = [...turn.calls.map((call, n) => toolSpan(id, call, n, at)), answerSpan(id, turn, at)];
  return {
    session_id: session.id,
    turn_index: index,
    agent: { id: 'support-desk', version: '1', model: 'sample', host: 'sample' },
    started_at: started,
    ended_at: ended,
    status: 'completed',
    task_summary: session.summary,
    rule_scope_hints: [{ ...session.topic, applicability: 'topical', recommended: true }],
    tools: [...sampleTools],
    traces: [
      {
        trace_id: id,
        name: 'support-desk',
        started_at: started,
        ended_at: ended,
        status: 'OK',
        input: turn.user,
        output: turn.answer,
        spans,
      },
    ],
    ...(index === session.turns.length - 1 ? { final: true } : {}),
  };
}

function toolSpan(turnId: string, call: SampleCall, n: number, clock: Clock): SpanInput {
  const failed = call.error !== undefined;
  return {
    span_id: `${turnId}-c${n}`,
    name: call.tool,
    kind: 'TOOL',
    status: failed ? 'ERROR' : 'OK',
    input: call.arguments,
    output: failed ? call.error : call.result,
    ...(failed ? { error: { message: call.error } } : {}),
    started_at: clock.at(2 * n + 1),
    ended_at: clock.at(2 * n + 2),
  };
}

function answerSpan(turnId: string, turn: SampleTurn, clock: Clock): SpanInput {
  const second = 2 * turn.calls.length + 1;
  return {
    span_id: `${turnId}-llm`,
    name: 'chat',
    kind: 'LLM',
    status: 'OK',
    model: 'sample',
    input: [{ role: 'user', content: turn.user }],
    output: { role: 'assistant', content: turn.answer },
    started_at: clock.at(second),
    ended_at: clock.at(second + 1),
  };
}
