import type { z } from 'zod';
import type { Usage } from './usage.js';

export interface EndpointOptions {
  /** Up to and including the version, as in `https://api.openai.com/v1`; also the endpoint's name in the capability memory. */
  readonly baseUrl: string;
  /** Sent as a bearer token; none is sent when absent (servers of one's own). */
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Of one request, from sending to the last byte of its reply. */
  readonly timeoutMs: number;
  /** Requests in flight at one time. */
  readonly concurrency: number;
  /** The longest that one call waits in all for hints and back-off (60 000); beyond it the call fails with `retryAfterMs`. */
  readonly maxWaitMs?: number | undefined;
}

export interface StructuredRequest<T> {
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly schema: z.ZodType<T>;
  /** Names the schema to the provider: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly maxOutputTokens: number;
  readonly temperature?: number | undefined;
  readonly reasoningEffort?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly maxOutputTokens: number;
  readonly temperature?: number | undefined;
  readonly reasoningEffort?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EmbedRequest {
  readonly model: string;
  /** Texts that are not blank. */
  readonly inputs: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** A JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: ToolArguments;
}

/** Arguments that could not be read are an error to tell the model as the tool's result; such a call is never executed. */
export type ToolArguments =
  { readonly ok: true; readonly value: Readonly<Record<string, unknown>> } | { readonly ok: false; readonly error: string };

export interface ChatReply {
  /** Told by what is there, for `finish` lies: with tool calls, else with text, else empty. */
  readonly kind: 'tool_calls' | 'text' | 'empty';
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The finish reason as the provider wrote it. */
  readonly finish: string | null;
  /** The reply as the next request's history should hold it. */
  readonly message: ChatMessage;
  readonly usage: Usage;
}

export interface StructuredReply<T> {
  readonly value: T;
  readonly usage: Usage;
}

export interface EmbedReply {
  /** One per input, in their order, all of one length. */
  readonly vectors: number[][];
  readonly usage: Usage;
}
