import { clockFrom, type Clock } from './clock.js';
import { isRecord, RecordingError, textOf, type SpanInput, type ToolInput, type TurnInput } from './shapes.js';
import { toCatalogue } from './tools.js';

export interface TauBenchOptions {
  /** The tool catalogue, in OpenAI's or the plain shape; without it the turns carry none. */
  readonly tools?: readonly unknown[];
  /** Part of the session id (`airline`): rows do not say which domain they are of. */
  readonly domain?: string;
  /** Milliseconds since the epoch of the first message; one second per message follows. */
  readonly startedAt?: number;
}

export interface TauBenchRecording {
  readonly turns: TurnInput[];
  /** 1 solved, 0 failed, null when the row has none. */
  readonly reward: number | null;
}

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

interface Message {
  readonly at: number;
  readonly role: string;
  readonly raw: Record<string, unknown>;
  readonly calls: readonly ToolCall[];
}

interface Session {
  readonly id: string;
  readonly clock: Clock;
  readonly tools: ToolInput[];
}

/**
 * One row of a tau-bench file as the turns of one session. A turn begins with a user message (the system message goes
 * with the first) and ends when control returns to the user: before the next user message, or at the end. A last user
 * message that nobody answered makes no turn; it is kept in the last turn's `metadata.unanswered`.
 * Throws RecordingError when the value is not such a row.
 */
export function tauBench(record: unknown, options: TauBenchOptions = {}): TauBenchRecording {
  if (!isRecord(record) || !Array.isArray(record.traj)) throw new RecordingError('A tau-bench row has a list "traj".');
  const messages = record.traj.map(toMessage);
  const parts = ['tau', options.domain ?? [], String(record.task_id), String(record.trial)].flat();
  const session = { id: parts.join('-'), clock: clockFrom(options.startedAt), tools: toCatalogue(options.tools ?? []) };
  const { groups, unanswered } = grouped(messages);
  const turns = groups.map((group, index) => toTurn(group, index, session));
  const last = turns.at(-1);
  if (last !== undefined) {
    last.final = true;
    if (unanswered.length > 0) last.metadata = { unanswered: unanswered.map((message) => message.raw) };
  }
  return { turns, reward: typeof record.reward === 'number' ? record.reward : null };
}

function toMessage(raw: unknown, at: number): Message {
  if (!isRecord(raw) || typeof raw.role !== 'string') throw new RecordingError(`Message ${at} has no role.`);
  const calls: unknown[] = Array.isArray(raw.tool_calls) ? raw.tool_calls : [];
  return { at, role: raw.role, raw, calls: calls.map(toCall) };
}

function toCall(call: unknown): ToolCall {
  if (!isRecord(call) || !isRecord(call.function)) throw new RecordingError('A tool call has no function.');
  return { id: textOf(call.id), name: textOf(call.function.name), arguments: call.function.arguments };
}

/** Splits before each user message that follows an assistant's or a tool's. Messages without any assistant are unanswered. */
function grouped(messages: readonly Message[]): { groups: Message[][]; unanswered: readonly Message[] } {
  const groups: Message[][] = [];
  let current: Message[] = [];
  for (const message of messages) {
    if (message.role === 'user' && current.some((earlier) => earlier.role === 'assistant')) {
      groups.push(current);
      current = [];
    }
    current.push(message);
  }
  if (current.some((message) => message.role === 'assistant')) return { groups: [...groups, current], unanswered: [] };
  return { groups, unanswered: current };
}

function toTurn(messages: readonly Message[], index: number, session: Session): TurnInput {
  const traceId = `${session.id}-t${String(index).padStart(3, '0')}`;
  const started = session.clock.at(messages[0]?.at ?? 0);
  const ended = session.clock.at((messages.at(-1)?.at ?? 0) + 1);
  const last = messages.at(-1);
  // A turn that ends on a tool's result has no answer: the agent handed over without a word.
  const answer = last?.role === 'assistant' ? textOf(last.raw.content) : '';
  const trace = {
    trace_id: traceId,
    name: 'turn',
    started_at: started,
    ended_at: ended,
    input: messages
      .filter((message) => message.role === 'user')
      .map((message) => textOf(message.raw.content))
      .join('\n'),
    output: answer,
    spans: messages.flatMap((message, at) => spansOf(message, at, messages, { traceId, clock: session.clock })),
  };
  return {
    session_id: session.id,
    turn_index: index,
    agent: { id: 'tau-bench' },
    started_at: started,
    ended_at: ended,
    status: 'completed',
    ...(session.tools.length > 0 ? { tools: session.tools } : {}),
    traces: [trace],
  };
}

interface Place {
  readonly traceId: string;
  readonly clock: Clock;
}

/** An assistant message is one LLM span, and one TOOL span per call with the result that answers its id. */
function spansOf(message: Message, at: number, messages: readonly Message[], place: Place): SpanInput[] {
  if (message.role !== 'assistant') return [];
  const previous = messages.slice(0, at).findLastIndex((earlier) => earlier.role === 'assistant');
  const llm: SpanInput = {
    span_id: `${place.traceId}-m${message.at}`,
    name: 'chat',
    kind: 'LLM',
    status: 'OK',
    input: messages.slice(previous + 1, at).map((seen) => seen.raw),
    output: message.raw,
    started_at: place.clock.at(message.at),
    ended_at: place.clock.at(message.at + 1),
  };
  const results = resultsAfter(at, messages);
  return [
    llm,
    ...message.calls.map((call, n) =>
      toolSpan(
        call,
        { ...place, result: results.find((result) => result.raw.tool_call_id === call.id) },
        `${message.at}.${n}`,
        message.at + 1,
      ),
    ),
  ];
}

function resultsAfter(at: number, messages: readonly Message[]): Message[] {
  const next = messages.findIndex((message, index) => index > at && message.role === 'assistant');
  return messages.slice(at + 1, next < 0 ? undefined : next).filter((message) => message.role === 'tool');
}

/** tau-bench tools answer failures with a text that begins with `Error`. */
function toolSpan(call: ToolCall, place: Place & { result: Message | undefined }, id: string, at: number): SpanInput {
  const output = place.result?.raw.content;
  const failed = typeof output === 'string' && output.startsWith('Error');
  return {
    span_id: `${place.traceId}-c${id}`,
    name: call.name,
    kind: 'TOOL',
    status: failed ? 'ERROR' : place.result === undefined ? 'UNSET' : 'OK',
    input: call.arguments,
    ...(place.result === undefined ? {} : { output }),
    ...(failed ? { error: output } : {}),
    started_at: place.clock.at(at),
    ended_at: place.clock.at(at + 1),
    metadata: { tool_call_id: call.id },
  };
}
