import type { Span, Trace, Turn } from '#contracts';
import { isRecord, parseJson } from './json.js';

type Side = 'request' | 'answer';

/** Longer JSON texts are not parsed and count as no text: JSON wrappers are never compared. */
const JSON_TEXT_MAX = 262_144;
const DEPTH_MAX = 8;
const LEAVES_MAX = 2000;

/** Where libraries keep the words, most telling first. */
const KEYS: Record<Side, readonly string[]> = {
  request: ['messages', 'prompt', 'input', 'contents', 'question', 'query', 'content', 'parts', 'text', 'message', 'kwargs'],
  answer: [
    ...[
      'choices',
      'candidates',
      'generations',
      'messages',
      'output',
      'output_text',
      'response',
      'answer',
      'final_output',
      'result',
    ],
    ...['content', 'parts', 'text', 'message', 'value', 'kwargs'],
  ],
};
const ENVELOPE_KEYS = new Set([
  ...KEYS.request,
  ...KEYS.answer,
  'role',
  'tool_calls',
  'toolCalls',
  'functionCall',
  'functionResponse',
  'inlineData',
]);
const ROLES: Record<Side, ReadonlySet<string>> = {
  request: new Set(['user', 'human', 'humanmessage']),
  answer: new Set(['assistant', 'ai', 'model', 'aimessage', 'aimessagechunk']),
};
const OTHER_ROLES = new Set(['system', 'developer', 'tool', 'function', 'toolmessage', 'systemmessage', 'functionmessage']);
/** Parts of a message that are not words to the other side: tool traffic, media, private reasoning. */
const WORDLESS_PART = /tool|function|image|audio|video|file|reason|think/i;

/** What the turn (or the trace) was asked: the last user message of its input. Empty when none was recorded. */
export function requestText(source: Turn | Trace): string {
  if (isTurn(source)) return firstText(source.traces ?? [], requestText);
  return extractText(source.input, 'request') || firstText(entrySpans(source), (span) => extractText(span.input, 'request'));
}

/** What the turn (or the trace) answered: the last assistant message of its output. Empty when none was recorded. */
export function answerText(source: Turn | Trace): string {
  if (isTurn(source)) {
    const last = source.traces?.at(-1);
    return last === undefined ? '' : answerText(last);
  }
  return extractText(source.output, 'answer') || extractText(lastOutput(source), 'answer');
}

/** Whether a final answer is there, is known to be missing, or was not recorded at all. */
export function answerState(trace: Trace): 'present' | 'absent' | 'unknown' {
  if (hasContent(trace.output)) return 'present';
  const output = lastOutput(trace);
  if (hasContent(output)) return 'present';
  return isRecorded(trace.output) || isRecorded(output) ? 'absent' : 'unknown';
}

/** The words for people in a recorded value; never keys, roles, ids or brackets of its wrapper. */
export function extractText(value: unknown, side: Side, depth = 0): string {
  if (depth > DEPTH_MAX || value === undefined || value === null) return '';
  if (typeof value === 'string') return fromString(value, side, depth);
  if (Array.isArray(value)) return fromArray(value, side, depth);
  if (isRecord(value)) return fromRecord(value, side, depth);
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : '';
}

function isTurn(source: Turn | Trace): source is Turn {
  return 'session_id' in source && 'turn_index' in source;
}

function firstText<T>(items: readonly T[], each: (item: T) => string): string {
  for (const item of items) {
    const text = each(item);
    if (text !== '') return text;
  }
  return '';
}

function entrySpans(trace: Trace): Span[] {
  return trace.spans.filter((span) => span.kind === 'AGENT' || span.kind === 'LLM' || span.kind === 'CHAIN');
}

/** The output of the agent's outermost span when recorded, else of the last model call. */
function lastOutput(trace: Trace): unknown {
  const root = trace.spans.find((span) => (span.kind === 'AGENT' || span.kind === 'CHAIN') && !isSet(span.parent_span_id));
  if (root !== undefined && isRecorded(root.output)) return root.output;
  let last: Span | undefined;
  for (const span of trace.spans) {
    if (span.kind === 'LLM' && (last === undefined || (span.started_at ?? 0) >= (last.started_at ?? 0))) last = span;
  }
  return last?.output;
}

function isSet(id: string | null | undefined): boolean {
  return id !== undefined && id !== null && id !== '';
}

function isRecorded(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** An answer need not be words: a structured result counts, an empty envelope does not. */
function hasContent(value: unknown): boolean {
  if (!isRecorded(value)) return false;
  if (extractText(value, 'answer').trim() !== '') return true;
  return isRecord(value) && Object.keys(value).length > 0 && !Object.keys(value).some((key) => ENVELOPE_KEYS.has(key));
}

function fromString(value: string, side: Side, depth: number): string {
  const first = /^\s*([[{"])/.exec(value)?.[1];
  if (first === undefined) return value;
  if (value.length > JSON_TEXT_MAX) return first === '"' ? value : '';
  const parsed = parseJson(value);
  return parsed === undefined ? value : extractText(parsed.value, side, depth + 1);
}

function fromArray(values: readonly unknown[], side: Side, depth: number): string {
  const flat = values.length === 1 && Array.isArray(values[0]) ? (values[0] as unknown[]) : values;
  if (flat.some((item) => roleOf(item) !== undefined)) return fromMessages(flat, side, depth);
  return flat
    .map((item) => extractText(item, side, depth + 1))
    .filter(Boolean)
    .join('\n');
}

/**
 * Walks back from the newest message. A request skips user messages without words (tool results in Anthropic's form);
 * an answer never reaches back beyond the newest user message, which would be an earlier turn's answer.
 */
function fromMessages(messages: readonly unknown[], side: Side, depth: number): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const role = roleOf(messages[at]) ?? '';
    if (ROLES[side].has(role)) {
      const text = extractText(messages[at], side, depth + 1);
      if (text !== '' || side === 'answer') return text;
    } else if (side === 'answer' && ROLES.request.has(role)) return '';
  }
  return '';
}

function roleOf(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const type =
    typeof value.role === 'string'
      ? value.role
      : (value.type ?? (Array.isArray(value.id) ? (value.id.at(-1) as unknown) : undefined));
  if (typeof type !== 'string') return undefined;
  const role = type.toLowerCase();
  if (typeof value.role === 'string') return role;
  return ROLES.request.has(role) || ROLES.answer.has(role) || OTHER_ROLES.has(role) ? role : undefined;
}

function fromRecord(value: Record<string, unknown>, side: Side, depth: number): string {
  if (isWordless(value)) return '';
  for (const key of KEYS[side]) {
    const text = Object.hasOwn(value, key) ? extractText(value[key], side, depth + 1) : '';
    if (text !== '') return text;
  }
  if (Object.keys(value).some((key) => ENVELOPE_KEYS.has(key))) return '';
  const leaves: string[] = [];
  collectLeaves(value, leaves, 0);
  return leaves.join('\n').slice(0, LEAVES_MAX);
}

function isWordless(value: Record<string, unknown>): boolean {
  if (value.thought === true) return true;
  const role = roleOf(value);
  if (role !== undefined) return OTHER_ROLES.has(role);
  return typeof value.type === 'string' && WORDLESS_PART.test(value.type);
}

/** The string values of an object of unknown shape: its content, without its keys. */
function collectLeaves(value: unknown, leaves: string[], depth: number): void {
  if (depth > DEPTH_MAX || leaves.length > 100) return;
  if (typeof value === 'string') leaves.push(value);
  else if (Array.isArray(value)) for (const item of value) collectLeaves(item, leaves, depth + 1);
  else if (isRecord(value)) for (const item of Object.values(value)) collectLeaves(item, leaves, depth + 1);
}
