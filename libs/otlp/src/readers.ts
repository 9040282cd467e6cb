import type { ReceivedSpan, Tool } from '#contracts';
import type { Reader, TokenUsage } from './dialect.js';
import { INDEX_MAX, indexTree } from './index-tree.js';
import { fromJsonText } from './json-value.js';
import type { Conversation } from './messages.js';
import type { AttributeValue } from './span.js';
import { toConversation } from './to-conversation.js';
import { toTools } from './to-tools.js';

/** The text of an attribute; numbers and booleans as written; empty text is no answer. */
export function text(key: string): Reader<string> {
  return (span) => {
    const value = span.peek(key);
    if (value === '' || (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint')) return undefined;
    span.attribute(key);
    return String(value);
  };
}

/** The value of an attribute, JSON texts parsed. */
export function json(key: string): Reader<unknown> {
  return (span) => fromJsonText(span.attribute(key));
}

/** The value of an attribute as recorded: for arguments, whose text may be wrong JSON and must stay so. */
export function raw(key: string): Reader<unknown> {
  return (span) => span.attribute(key);
}

/** The attributes under `prefix` (ends in a dot) as the JSON that their numbered keys stand for. */
export function tree(prefix: string): Reader<unknown> {
  return (span) => {
    let dropped = 0;
    const found = indexTree(span.under(prefix), () => {
      dropped += 1;
    });
    if (dropped > 0)
      span.note(`${dropped} keys under ${prefix} were left out: too many, too deep, or an index over ${INDEX_MAX}`);
    return found;
  };
}

/** What `reader` finds, as messages; undefined when there are none in it. `role` is for words without one. */
export function messages(reader: Reader<unknown>, role: 'user' | 'assistant'): Reader<Conversation> {
  return (span) => toConversation(reader(span), role);
}

/** What `reader` finds, as a catalogue of tools. */
export function tools(reader: Reader<unknown>): Reader<readonly Tool[]> {
  return (span) => {
    const found = toTools(reader(span));
    return found.length === 0 ? undefined : found;
  };
}

/** A word of the dialect as our kind; other words are no answer. Upper and lower case are equal. */
export function kindFrom(key: string, words: Readonly<Record<string, ReceivedSpan['kind']>>): Reader<ReceivedSpan['kind']> {
  const known = new Map(Object.entries(words));
  return (span) => {
    const word = span.peek(key);
    const kind = typeof word === 'string' ? known.get(word.toLowerCase()) : undefined;
    if (kind !== undefined) span.attribute(key);
    return kind;
  };
}

/** Counts by our name, each from the first of its attributes that is there; one that is there but no number is null. */
export function usage(names: Readonly<Record<string, readonly string[]>>): Reader<TokenUsage> {
  const wanted = Object.entries(names);
  return (span) => {
    const counts: Record<string, number | null> = {};
    for (const [name, keys] of wanted) {
      const key = keys.find((one) => span.has(one));
      if (key !== undefined) counts[name] = toCount(span.attribute(key));
    }
    return Object.keys(counts).length === 0 ? undefined : counts;
  };
}

function toCount(value: AttributeValue | undefined): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}
