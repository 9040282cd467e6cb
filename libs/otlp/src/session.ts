import { firstMember, fromJsonText, isRecord, textOrUndefined } from './json-value.js';
import type { SpanView } from './span-view.js';

/** The name meant for us: it beats every other, on whichever span of the trace it stands. */
export const EXPLICIT_SESSION_KEY = 'fleetmend.session.id';

/** Names of a session's id, in order: the more a library means by it, the earlier. */
export const SESSION_KEYS: readonly string[] = [
  'langfuse.session.id',
  'session.id',
  'gen_ai.conversation.id',
  'ai.telemetry.metadata.sessionId',
  'ai.telemetry.metadata.session_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
  'langsmith.metadata.conversation_id',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'traceloop.association.properties.conversation_id',
  'thread_id',
  'session_id',
  'conversation_id',
];
const METADATA_KEYS = ['metadata', 'langfuse.trace.metadata', 'langsmith.metadata'];
const METADATA_MEMBERS = ['session_id', 'sessionId', 'thread_id', 'threadId', 'conversation_id'];
const ID_MAX = 255;

export interface SessionName {
  readonly id: string;
  readonly explicit: boolean;
}

/** Which session a span says it belongs to. `own`: where its dialect has a place of its own. */
export function sessionOf(span: SpanView, own: string | undefined): SessionName | null {
  const idFrom = (value: unknown): string | undefined => idIn(span, value);
  const explicit = idFrom(span.attribute(EXPLICIT_SESSION_KEY)) ?? idFrom(span.resource.get(EXPLICIT_SESSION_KEY));
  if (explicit !== undefined) return { id: explicit, explicit: true };
  const id = idFrom(own) ?? fromKeys(span) ?? fromMetadata(span) ?? idFrom(span.resource.get('session.id'));
  return id === undefined ? null : { id, explicit: false };
}

function fromKeys(span: SpanView): string | undefined {
  for (const key of SESSION_KEYS) {
    const id = idIn(span, span.peek(key));
    if (id !== undefined) {
      span.attribute(key);
      return id;
    }
  }
  return undefined;
}

/** LangChain's and others' metadata as one JSON text. It stays in metadata: it says more than the session. */
function fromMetadata(span: SpanView): string | undefined {
  for (const key of METADATA_KEYS) {
    const metadata = fromJsonText(span.peek(key));
    const id = isRecord(metadata) ? idIn(span, firstMember(metadata, METADATA_MEMBERS)) : undefined;
    if (id !== undefined) return id;
  }
  return undefined;
}

/** An id is text or an integer of at most 255 characters; a longer one is no id, and is noted. */
function idIn(span: SpanView, value: unknown): string | undefined {
  const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : textOrUndefined(value);
  if (text === undefined || text.length <= ID_MAX) return text;
  span.note(`a session id of more than ${ID_MAX} characters was left out`);
  return undefined;
}
