import type { Attributes, OtlpEvent, OtlpScope } from './span.js';
import type { SpanView } from './span-view.js';

const ATTRIBUTES_MAX = 1_024;
const EVENTS_MAX = 256;

/** Our own entries of a span's metadata; an attribute of the same name is kept as `attribute.<name>`. */
export interface OwnMetadata {
  readonly tool_call_id?: string;
  readonly response_id?: string;
  readonly remote_parent?: string;
  readonly notes?: readonly string[];
  readonly resource?: unknown;
  readonly scope?: unknown;
  readonly events?: unknown;
}

/** Resources and scopes are shared by many spans: made plain once. */
const plainObjects = new WeakMap<object, Record<string, unknown>>();

/** All that had no place: attributes, events, resource and scope, with `own`. */
export function metadataOf(span: SpanView, repeats: readonly string[], own: OwnMetadata): Record<string, unknown> {
  const { notes, ...ids } = own;
  const events = span.events.filter((event) => !span.wasEventRead(event));
  const { kept, dropped } = unreadAttributes(span, repeats);
  const ours: OwnMetadata = {
    ...ids,
    ...(span.resource.size === 0 ? {} : { resource: plain(span.resource) }),
    ...(span.scope === '' ? {} : { scope: plainScope(span.span.scope) }),
    ...(events.length === 0 ? {} : { events: events.slice(0, EVENTS_MAX).map(plainEvent) }),
    ...notesOf([...span.span.notes, ...span.notes, ...(notes ?? [])], dropped, events.length - EVENTS_MAX),
  };
  // fromEntries defines own properties, so that a `__proto__` key stays data.
  const attributes = kept.map(([key, value]) => [Object.hasOwn(ours, key) ? `attribute.${key}` : key, value] as const);
  return Object.fromEntries([...attributes, ...Object.entries(ours)]);
}

function notesOf(notes: readonly string[], attributes: number, events: number): OwnMetadata {
  const all = [
    ...notes,
    ...(attributes > 0 ? [`${attributes} attributes more than ${ATTRIBUTES_MAX} were left out`] : []),
    ...(events > 0 ? [`${events} events more than ${EVENTS_MAX} were left out`] : []),
  ];
  return all.length === 0 ? {} : { notes: all };
}

function unreadAttributes(span: SpanView, repeats: readonly string[]): { kept: (readonly [string, unknown])[]; dropped: number } {
  const kept: (readonly [string, unknown])[] = [];
  let dropped = 0;
  for (const [key, value] of span.span.attributes) {
    if (span.wasRead(key) || isRepeat(key, repeats)) continue;
    if (kept.length < ATTRIBUTES_MAX) kept.push([key, value]);
    else dropped += 1;
  }
  return { kept, dropped };
}

function isRepeat(key: string, repeats: readonly string[]): boolean {
  return repeats.some((repeat) => (repeat.endsWith('.') ? key.startsWith(repeat) : key === repeat));
}

function plain(attributes: Attributes): Record<string, unknown> {
  let made = plainObjects.get(attributes);
  if (made === undefined) {
    made = Object.fromEntries(attributes);
    plainObjects.set(attributes, made);
  }
  return made;
}

function plainScope(scope: OtlpScope): Record<string, unknown> {
  let made = plainObjects.get(scope);
  if (made === undefined) {
    made = {
      name: scope.name,
      ...(scope.version === '' ? {} : { version: scope.version }),
      ...(scope.attributes.size === 0 ? {} : { attributes: Object.fromEntries(scope.attributes) }),
    };
    plainObjects.set(scope, made);
  }
  return made;
}

function plainEvent(event: OtlpEvent): unknown {
  return {
    name: event.name,
    ...(event.time === null ? {} : { time: Number(event.time / 1000n) }),
    ...(event.attributes.size === 0 ? {} : { attributes: Object.fromEntries(event.attributes) }),
  };
}
