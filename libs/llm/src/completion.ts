import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { unusable } from './sender.js';
import type { Tokens } from './meter.js';
import type { ToolCall } from './requests.js';
import { readToolArguments } from './tool-arguments.js';

export interface Completion {
  readonly text: string;
  readonly refusal: string | undefined;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | null;
  /** Undefined when the endpoint did not say. */
  readonly tokens: Tokens | undefined;
}

/** Only what is used, and loosely: compatible servers leave out, add and write null where they like. */
const part = z.looseObject({ text: z.string().nullish() });
const toolCall = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
});
const reply = z.looseObject({
  choices: z.tuple(
    [
      z.looseObject({
        message: z.looseObject({
          content: z.union([z.string(), z.array(part)]).nullish(),
          refusal: z.string().nullish(),
          tool_calls: z.array(toolCall).nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    ],
    z.unknown(),
  ),
  usage: z.unknown().optional(),
});
const usage = z.looseObject({ prompt_tokens: z.int().positive(), completion_tokens: z.int().nonnegative().default(0) });

/** @throws ModelError `unavailable` when it is not a chat completion */
export function readCompletion(json: Record<string, unknown>): Completion {
  const read = reply.safeParse(json);
  if (!read.success) throw unusable(`an answer that is not a chat completion: ${z.prettifyError(read.error).slice(0, 300)}`, 200);
  const [{ message, finish_reason: finish }] = read.data.choices;
  const { content, refusal, tool_calls: calls } = message;
  const text = typeof content === 'string' ? content : (content ?? []).map((piece) => piece.text ?? '').join('');
  return {
    text,
    refusal: refusal === '' ? undefined : (refusal ?? undefined),
    toolCalls: readCalls(calls ?? []),
    finish: finish ?? null,
    tokens: readTokens(read.data.usage),
  };
}

export function readTokens(written: unknown): Tokens | undefined {
  const read = usage.safeParse(written);
  return read.success ? { input: read.data.prompt_tokens, output: read.data.completion_tokens } : undefined;
}

/** An id that is missing or there twice is replaced, for each result must find its call. */
function readCalls(calls: readonly z.infer<typeof toolCall>[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map(({ id, function: { name, arguments: written } }) => {
    const own = id !== null && id !== undefined && id !== '' && !seen.has(id) ? id : `call_${randomUUID().slice(0, 8)}`;
    seen.add(own);
    return { id: own, name, arguments: readToolArguments(written) };
  });
}
