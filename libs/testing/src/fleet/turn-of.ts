import type { z } from 'zod';
import type { turnEndedInput } from '#contracts';
import { fleetTools, type PlannedCall, type PlannedTurn } from './modes.js';

/** A turn as an agent publishes it. */
export type FleetTurn = z.input<typeof turnEndedInput>;

export interface TurnPlace {
  readonly session: string;
  readonly turn: number;
}

const EPOCH_MS = Date.UTC(2026, 0, 1);
const TURN_MS = 60_000;
const CALL_MS = 1_000;
const MODEL = 'scripted-agent';

/** What was planned, as the turn that an instrumented agent would send: tool spans, then the model's last word. */
export function turnOf({ session, turn }: TurnPlace, plan: PlannedTurn, more: Partial<FleetTurn> = {}): FleetTurn {
  const trace = `${session}-t${turn}`;
  const start = EPOCH_MS + turn * TURN_MS;
  const time = (after: number): string => new Date(start + after).toISOString();
  const toSpan = (call: PlannedCall, at: number): object => ({
    ...{ span_id: `${trace}-c${at}`, name: call.tool, kind: 'TOOL', status: call.error === undefined ? 'OK' : 'ERROR' },
    ...{
      input: call.args,
      output: call.error ?? call.result,
      started_at: time((at + 1) * CALL_MS),
      ended_at: time((at + 1.5) * CALL_MS),
    },
    ...(call.error === undefined ? {} : { error: { message: call.error } }),
  });
  const end = (plan.calls.length + 1) * CALL_MS;
  const word = {
    ...{ span_id: `${trace}-m`, name: MODEL, kind: 'LLM', status: 'OK', model: MODEL, input: plan.request, output: plan.answer },
    ...{ started_at: time(end), ended_at: time(end + CALL_MS / 2) },
  };
  const spans = [...plan.calls.map(toSpan), word] as NonNullable<NonNullable<FleetTurn['traces']>[number]['spans']>;
  return {
    ...{
      session_id: session,
      turn_index: turn,
      status: 'completed' as const,
      tools: fleetTools,
      agent: { id: 'fleet', version: '1', model: MODEL },
    },
    ...{ started_at: time(0), ended_at: time(end + CALL_MS) },
    traces: [
      {
        ...{ trace_id: trace, name: 'turn', status: 'OK' as const, started_at: time(0), ended_at: time(end + CALL_MS) },
        ...{ input: plan.request, output: plan.answer, spans },
      },
    ],
    ...more,
  };
}
