import type { Reader } from '../dialect.js';
import { fromJsonText, isRecord, textOrUndefined } from '../json-value.js';
import type { Conversation } from '../messages.js';
import type { OtlpEvent } from '../span.js';
import { toConversation } from '../to-conversation.js';

/** Events that hold one message each (v1.28 to 1.36), with the role of the message. */
const MESSAGE_EVENTS: ReadonlyMap<string, string> = new Map([
  ['gen_ai.system.message', 'system'],
  ['gen_ai.user.message', 'user'],
  ['gen_ai.assistant.message', 'assistant'],
  ['gen_ai.tool.message', 'tool'],
]);
/** Events that hold all messages of one side, by the attribute that does. */
const CONTENT_EVENTS = {
  input: [
    ['gen_ai.client.inference.operation.details', 'gen_ai.input.messages'],
    ['gen_ai.content.prompt', 'gen_ai.prompt'],
  ],
  output: [
    ['gen_ai.client.inference.operation.details', 'gen_ai.output.messages'],
    ['gen_ai.content.completion', 'gen_ai.completion'],
  ],
} as const;

/** The messages that events of the span say, in their order. */
export function eventContent(side: 'input' | 'output'): Reader<Conversation> {
  const role = side === 'input' ? 'user' : 'assistant';
  return (span) => {
    if (span.events.length === 0) return undefined;
    const found: unknown[] = [];
    for (const event of span.events) {
      const content = contentOf(event, side) ?? messageOf(event, side);
      if (content === undefined) continue;
      span.readEvent(event);
      found.push(content);
    }
    return found.length === 0 ? undefined : toConversation(found, role);
  };
}

function contentOf(event: OtlpEvent, side: 'input' | 'output'): unknown {
  const place = CONTENT_EVENTS[side].find(([name]) => name === event.name);
  return place === undefined ? undefined : fromJsonText(event.attributes.get(place[1]));
}

function messageOf(event: OtlpEvent, side: 'input' | 'output'): unknown {
  const role = MESSAGE_EVENTS.get(event.name);
  if ((role === undefined || side === 'output') && !(side === 'output' && event.name === 'gen_ai.choice')) return undefined;
  const body = bodyOf(event);
  const message = fromJsonText(body['message']);
  return {
    role: textOrUndefined(body['role']) ?? role ?? 'assistant',
    ...body,
    ...(isRecord(message) ? message : {}),
    message: undefined,
  };
}

/** The body as one JSON attribute, or as attributes of the event; values may be JSON text. */
function bodyOf(event: OtlpEvent): Record<string, unknown> {
  const whole = fromJsonText(event.attributes.get('gen_ai.event.content') ?? event.attributes.get('body'));
  if (isRecord(whole)) return { ...whole };
  return Object.fromEntries([...event.attributes].map(([key, value]) => [key, key === 'content' ? value : fromJsonText(value)]));
}
