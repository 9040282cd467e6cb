import { clockFrom } from './clock.js';
import { isRecord, RecordingError, textOf, type SpanInput, type TurnInput } from './shapes.js';

interface Step {
  readonly thought: string;
  readonly action: string;
  readonly observation: string;
}

/** What one step becomes part of. */
interface Place {
  readonly session: string;
  readonly index: number;
  readonly request: string;
}

/**
 * A SWE-agent trajectory as the turns of session `swe-<name>`: each thought, action and observation is one turn, with one
 * LLM span (what it saw, what it wrote) and, when there is an action, one TOOL span named after the command's first word.
 * The request is the task for the first step and the previous observation after it; the answer is the thought.
 * Observations carry no status, so no call is marked as failed (status OK: it returned). `info.exit_status` other than
 * `submitted` makes the last turn an error. Throws RecordingError when the value is not a trajectory.
 */
export function sweAgent(record: unknown, name: string): TurnInput[] {
  if (!isRecord(record) || !Array.isArray(record.trajectory))
    throw new RecordingError('A SWE-agent file has a list "trajectory".');
  const steps = record.trajectory.map(toStep);
  const session = sessionId(name);
  const task = taskOf(record.history);
  const turns = steps.map((step, index) => toTurn(step, { session, index, request: steps[index - 1]?.observation ?? task }));
  const last = turns.at(-1);
  if (last !== undefined) Object.assign(last, ending(record.info));
  return turns;
}

/** Session ids hold 255 characters at most; file names of trajectories can be longer, and differ at their end. */
function sessionId(name: string): string {
  return `swe-${name.replace(/\.traj$/, '')}`.slice(-255);
}

function toStep(raw: unknown, index: number): Step {
  if (!isRecord(raw)) throw new RecordingError(`Step ${index} is not an object.`);
  return {
    thought: textOf(raw.thought) || textOf(raw.response),
    action: textOf(raw.action),
    observation: textOf(raw.observation),
  };
}

/** The task is the last user message before the agent speaks; earlier ones are demonstrations. */
function taskOf(history: unknown): string {
  const messages: unknown[] = Array.isArray(history) ? history : [];
  const spoken = messages.findIndex((message) => isRecord(message) && message.role === 'assistant');
  const task = messages
    .slice(0, spoken < 0 ? undefined : spoken)
    .findLast((message) => isRecord(message) && message.role === 'user');
  const content: unknown = isRecord(task) ? task.content : undefined;
  if (typeof content === 'string') return content;
  const parts: unknown[] = Array.isArray(content) ? content : [];
  return parts.map((part) => (isRecord(part) ? textOf(part.text) : '')).join('\n');
}

function ending(info: unknown): Partial<TurnInput> {
  const status = isRecord(info) ? info.exit_status : undefined;
  if (typeof status !== 'string') return { final: true };
  if (status === 'submitted') return { final: true, status: 'completed' };
  return { final: true, status: 'error', error: { type: 'exit_status', message: status } };
}

function toTurn(step: Step, { session, index, request }: Place): TurnInput {
  // Each step takes two seconds: one to think, one to act.
  const clock = clockFrom();
  const [started, acted, ended] = [clock.at(2 * index), clock.at(2 * index + 1), clock.at(2 * index + 2)];
  const id = `${session.slice(-200)}-t${String(index).padStart(3, '0')}`;
  const llm: SpanInput = {
    span_id: `${id}-llm`,
    name: 'chat',
    kind: 'LLM',
    status: 'OK',
    input: request,
    output: { role: 'assistant', content: step.thought, action: step.action },
    started_at: started,
    ended_at: acted,
  };
  const tool: SpanInput = {
    span_id: `${id}-act`,
    name: /\S+/.exec(step.action)?.[0] ?? '',
    kind: 'TOOL',
    status: 'OK',
    input: { command: step.action },
    output: step.observation,
    started_at: acted,
    ended_at: ended,
  };
  const spans = tool.name === '' ? [llm] : [llm, tool];
  return {
    session_id: session,
    turn_index: index,
    agent: { id: 'swe-agent' },
    started_at: started,
    ended_at: ended,
    status: 'completed',
    traces: [{ trace_id: id, name: 'step', started_at: started, ended_at: ended, input: request, output: step.thought, spans }],
  };
}
