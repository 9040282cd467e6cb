import type { ServerResponse } from 'node:http';

/** Writes one reply; `server` tells what must end with it. */
export type Reply = (response: ServerResponse) => Promise<void> | void;

export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** As text it is sent as it is, well formed or not. */
  readonly arguments: unknown;
}

export interface AnswerFields {
  readonly toolCalls?: readonly ScriptedCall[];
  readonly finish?: string | null;
  readonly refusal?: string;
  /** `null`: the endpoint does not say. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

/** A body of the given status; what is not text is written as JSON. */
export function status(code: number, body: unknown = {}, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => {
    const isText = typeof body === 'string';
    response.writeHead(code, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
    response.end(isText ? body : JSON.stringify(body));
  };
}

export function json(body: unknown): Reply {
  return status(200, body);
}

/** A chat completion with this text, or with tool calls. */
export function answer(text: string | null, fields: AnswerFields = {}): Reply {
  return json(completion(text, fields));
}

/** A chat completion whose text is this value as JSON. */
export function answerJson(value: unknown, fields: AnswerFields = {}): Reply {
  return answer(JSON.stringify(value), fields);
}

/** One vector per text, each of `values` numbers made from the text's length; last first, as an endpoint is free to. */
export function embeddings(inputs: readonly string[], values = 3): Reply {
  const data = inputs.map((input, index) => ({ object: 'embedding', index, embedding: vectorOf(input, values) }));
  return json({ object: 'list', data: data.reverse(), usage: { prompt_tokens: inputs.length, total_tokens: inputs.length } });
}

export function vectorOf(input: string, values = 3): number[] {
  return Array.from({ length: values }, (_, at) => input.length + at);
}

/** The same completion as server-sent events, in pieces of eight characters. */
export function stream(text: string, fields: AnswerFields & { readonly cutAfter?: number } = {}): Reply {
  const pieces = text.match(/[\s\S]{1,8}/g) ?? [];
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const event = (delta: object, finish: string | null = null): void => {
      response.write(`data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    };
    pieces.slice(0, fields.cutAfter).forEach((content) => event({ content }));
    if (fields.cutAfter !== undefined) {
      response.destroy();
      return;
    }
    event({}, fields.finish ?? 'stop');
    response.end('data: [DONE]\n\n');
  };
}

/** Never answers; the connection stays open until the caller or the server closes it. */
export function hang(): Reply {
  return () => undefined;
}

/** Closes the connection without an answer. */
export function reset(): Reply {
  return (response) => {
    response.destroy();
  };
}

/** Announces a longer body than it sends, then closes the connection. */
export function truncated(text = '{"choices":[{"mess'): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length + 100 });
    response.write(text, () => response.destroy());
  };
}

/** The reply after so many milliseconds. */
export function after(ms: number, reply: Reply): Reply {
  return async (response) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await reply(response);
  };
}

const HEAD = { id: 'chatcmpl-scripted', object: 'chat.completion', created: 1_769_000_000, model: 'scripted' };

function completion(text: string | null, { toolCalls = [], finish, refusal, usage }: AnswerFields): object {
  const calls = toolCalls.map((call, index) => ({
    id: call.id ?? `call_${index}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
  const message = {
    role: 'assistant',
    content: text,
    refusal: refusal ?? null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const finishReason = finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : finish;
  const counted = usage === undefined ? { prompt_tokens: 12, completion_tokens: 7 } : usage;
  return {
    ...HEAD,
    choices: [{ index: 0, message, finish_reason: finishReason }],
    ...(counted === null ? {} : { usage: { ...counted, total_tokens: counted.prompt_tokens + counted.completion_tokens } }),
  };
}
