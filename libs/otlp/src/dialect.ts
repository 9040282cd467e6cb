import type { ReceivedSpan, Tool } from '#contracts';
import type { SpanView } from './span-view.js';

/** Answers undefined where the span does not say. Never throws, whatever the attributes hold. */
export type Reader<T> = (span: SpanView) => T | undefined;

/** Token counts of one call, as the provider reported them; null where it was no number. */
export interface TokenUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly [detail: string]: number | null | undefined;
}

export interface Agent {
  readonly id: string;
  readonly version: string | null;
  readonly model: string | null;
}

/** What a dialect can say about a span. */
export interface SpanFields {
  readonly kind: ReceivedSpan['kind'];
  /** Where the span's own name is not telling: the tool's name of a TOOL span. */
  readonly name: string;
  /** For model calls: `Conversation` (see messages.ts). For tools: the arguments. Otherwise any JSON. */
  readonly input: unknown;
  readonly output: unknown;
  readonly model: string;
  readonly usage: TokenUsage;
  /** What the model could have called. */
  readonly tools: readonly Tool[];
  /** Joins a TOOL span to the model's call. */
  readonly callId: string;
  /** The provider's id of its answer: two spans with the same one saw the same call. */
  readonly responseId: string;
  /** Beside the exception events and the status, which are read for everybody. */
  readonly error: unknown;
  readonly agent: Agent;
  /** Where the dialect has a place of its own, beside the names that session.ts reads for everybody. */
  readonly session: string;
}

/**
 * One vocabulary: a table from what a span should say to where this library writes it; the first reader that answers counts.
 * A span that speaks several is read by all of them, in the order of dialects/index.ts, field by field.
 */
export interface Dialect {
  /** As in docs/integrations.md. */
  readonly name: string;
  /** By the scope's name or by attributes that only this vocabulary has. Asked of every span: no walk over its attributes. */
  readonly speaks: (span: SpanView) => boolean;
  readonly fields: { readonly [Field in keyof SpanFields]?: readonly Reader<SpanFields[Field]>[] };
  /** Attributes that only repeat what `fields` reads (a key, or a prefix that ends in a dot): not kept in metadata a second time. */
  readonly repeats?: readonly string[];
}
