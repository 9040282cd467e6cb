import { randomBytes } from 'node:crypto';
import { outsidePart } from '#domain/repair';
import type { ClaimedEpisode } from '../claimed-episode.js';
import type { RunDeeds, RunEnd } from '../run/run-end.js';
import type { SpokenCall, SpokenTurn } from '../run/repair-talk.js';

/** A run that has ended, as it is exported. Times are milliseconds since the epoch. */
export interface EndedRun {
  readonly episode: ClaimedEpisode;
  readonly deeds: RunDeeds;
  readonly end: RunEnd;
  readonly turns: readonly SpokenTurn[];
  readonly startedAt: number;
  readonly endedAt: number;
  readonly assignment: string;
}

type AnyValue = { readonly stringValue: string } | { readonly intValue: string } | { readonly boolValue: boolean };

/** A span of OTLP/JSON. Times are decimal nanoseconds; ids are hex. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: AnyValue }[];
  readonly status: { readonly code: number };
}

/** The name of the trace. */
export const TRACE_NAME = 'fleetmend';

const INTERNAL = 1;
const OK = 1;
const ERROR = 2;

type Kind = 'CHAIN' | 'AGENT' | 'LLM' | 'TOOL';
type Facts = Readonly<Record<string, string | number | boolean | null>>;

interface Piece {
  readonly name: string;
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
  readonly facts: Facts;
  readonly failed?: boolean;
  readonly children?: readonly Piece[];
}

/** One trace: the harness, and for each turn the agent with its model call, and the tools with a span for each call. */
export function runSpans(run: EndedRun): OtlpSpan[] {
  const traceId = randomBytes(16).toString('hex');
  return spansOf(harness(run), { traceId, session: sessionOf(run.episode) });
}

/** Repairs are sessions of their own: nobody takes one for a turn of the session that it repairs. */
export function sessionOf({ session, episode }: ClaimedEpisode): string {
  return `repair-${session}-${episode}`;
}

function harness(run: EndedRun): Piece {
  const { episode, deeds, end, turns, startedAt: from, endedAt: to, assignment } = run;
  return {
    ...{ name: 'harness', kind: 'CHAIN', from, to, failed: end.kind === 'unresolved' },
    facts: {
      ...{ 'input.value': outsidePart(assignment), 'output.value': end.status, 'fleetmend.project': episode.project },
      ...{ 'fleetmend.episode': episode.episode, 'fleetmend.run': episode.run, 'fleetmend.status': end.status },
      ...{
        'fleetmend.error_category': end.kind === 'unresolved' ? end.category : null,
        'fleetmend.rule': deeds.conversation.candidate,
      },
    },
    children: turns.flatMap((turn) => piecesOf(turn, deeds.model ?? '')),
  };
}

function piecesOf({ reply, startedAt: from, repliedAt: to, calls }: SpokenTurn, model: string): Piece[] {
  const { usage, text, toolCalls, finish } = reply;
  const said = outsidePart(text === '' ? toolCalls.map(({ name }) => name).join(', ') : text);
  const facts: Facts = {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, 'output.value': said, 'llm.finish_reason': finish },
    ...{ 'gen_ai.usage.input_tokens': usage.inputTokens, 'gen_ai.usage.output_tokens': usage.outputTokens },
  };
  const llm: Piece = { name: `chat ${model}`, kind: 'LLM', from, to, facts };
  const agent: Piece = { name: 'repair-agent', kind: 'AGENT', from, to, facts: {}, children: [llm] };
  if (calls.length === 0) return [agent];
  const last = Math.max(...calls.map(({ endedAt }) => endedAt));
  return [agent, { name: 'tools', kind: 'AGENT', from: to, to: last, facts: {}, children: calls.map(toolPiece) }];
}

function toolPiece({ call, outcome, content, startedAt: from, endedAt: to }: SpokenCall): Piece {
  const input = call.arguments.ok ? outsidePart(call.arguments.value) : outsidePart(call.arguments.error);
  const name = outsidePart(call.name, 100) ?? '';
  const facts: Facts = {
    ...{ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name, 'gen_ai.tool.call.id': call.id },
    ...{ 'input.value': input, 'output.value': outsidePart(content), 'fleetmend.outcome': outcome },
  };
  return { name, kind: 'TOOL', from, to, facts, failed: outcome === 'refused' };
}

interface Place {
  readonly traceId: string;
  readonly session: string;
  readonly parent?: string;
}

function spansOf({ name, kind, from, to, facts, failed = false, children = [] }: Piece, place: Place): OtlpSpan[] {
  const { traceId, session, parent } = place;
  const spanId = randomBytes(8).toString('hex');
  const marks: Facts = { 'session.id': session, 'langfuse.trace.name': TRACE_NAME, 'openinference.span.kind': kind };
  const span: OtlpSpan = {
    ...{ traceId, spanId, name, kind: INTERNAL, startTimeUnixNano: `${from}000000`, endTimeUnixNano: `${to}000000` },
    ...(parent === undefined ? {} : { parentSpanId: parent }),
    attributes: Object.entries({ ...marks, ...facts }).flatMap(([key, one]) =>
      one === null ? [] : [{ key, value: anyValue(one) }],
    ),
    status: { code: failed ? ERROR : OK },
  };
  return [span, ...children.flatMap((child) => spansOf(child, { ...place, parent: spanId }))];
}

function anyValue(value: string | number | boolean): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) };
}
