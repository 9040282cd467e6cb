import { z } from 'zod';
import { type Capabilities, type CapabilityMemory, UNTRIED } from './capabilities.js';
import { type Ask, chatBody, inWords, wellFormed } from './chat-body.js';
import { type Clock, systemClock } from './clock.js';
import { type Completion, readCompletion, readTokens } from './completion.js';
import { readEmbeddings } from './embeddings.js';
import { requestSchema } from './json-schema.js';
import { readJson } from './json-text.js';
import { Meter } from './meter.js';
import { explain, ModelError } from './model-error.js';
import type { PriceTable } from './prices.js';
import { fallbackFor, refusesTools } from './refused-parameter.js';
import type {
  ChatMessage,
  ChatReply,
  ChatRequest,
  EmbedReply,
  EmbedRequest,
  EndpointOptions,
  StructuredReply,
  StructuredRequest,
} from './requests.js';
import { ESTIMATED, Sender } from './sender.js';
import { countTokens } from './tokens.js';

export interface EndpointTools {
  readonly capabilities: CapabilityMemory;
  readonly prices: PriceTable;
  readonly clock?: Clock;
}

/** Texts of one request for embeddings; providers take between 100 and 2048. */
const EMBED_BATCH = 100;
/** How much of what was wrong with an answer the model is told. */
const WRONG_MAX = 1000;
/** How much of an answer in the wrong shape is shown to the model again. */
const QUOTED_MAX = 8000;

type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

/**
 * One OpenAI-compatible endpoint. Its limit of concurrency holds for all calls of this object, its pauses for all of one model, so
 * there should be one per endpoint and purpose in a process. Every method answers with its usage, or throws a ModelError that carries it.
 */
export class ModelEndpoint {
  private readonly sender: Sender;
  private readonly capabilities: CapabilityMemory;
  private readonly prices: PriceTable;

  /** @throws ModelError `config` when no request could ever be sent with these options */
  constructor(
    private readonly options: EndpointOptions,
    { capabilities, prices, clock = systemClock }: EndpointTools,
  ) {
    this.sender = new Sender(options, clock);
    this.capabilities = capabilities;
    this.prices = prices;
  }

  /**
   * An answer that satisfies `schema`. The provider is asked to enforce the schema, else to write JSON, else the model is only
   * told; what a model refuses is remembered. An answer in the wrong shape is asked for once more, with what was wrong.
   */
  structured<T>(request: StructuredRequest<T>): Promise<StructuredReply<T>> {
    const { system, user, schema, name, ...rest } = request;
    const format = { name, schema: requestSchema(schema) };
    return this.metered(request.model, async (meter) => {
      const messages: ChatMessage[] = [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ];
      const first = await this.complete({ ...rest, messages, format }, meter);
      const checked = check(declined(first), schema);
      if (checked.ok) return { value: checked.value };
      meter.note('answered in the wrong shape');
      const correction = `That answer cannot be used: ${checked.error}\n\n${inWords(format.schema)}`;
      messages.push(
        { role: 'assistant', content: first.text.slice(0, QUOTED_MAX) || '(nothing)' },
        { role: 'user', content: correction },
      );
      const again = check(declined(await this.complete({ ...rest, messages, format }, meter)), schema);
      if (again.ok) return { value: again.value };
      throw new ModelError('invalid_output', explain('invalid_output', again.error));
    });
  }

  /** One reply to a conversation, with tool calls read and checked to be objects. Whether they fit a tool is the caller's to see. */
  chat(request: ChatRequest): Promise<ChatReply> {
    return this.metered(request.model, async (meter) => {
      const { text, refusal, toolCalls, finish } = await this.complete(request, meter);
      const kind = toolCalls.length > 0 ? 'tool_calls' : text.trim() === '' ? 'empty' : 'text';
      if (kind === 'empty' && (refusal !== undefined || finish === 'content_filter')) throw contentError(refusal ?? finish ?? '');
      const message: ChatMessage = { role: 'assistant', content: text, ...(kind === 'tool_calls' ? { toolCalls } : {}) };
      return { kind, text, toolCalls, finish, message };
    });
  }

  /** One vector per text. @throws ModelError `content` on a blank text, which providers refuse together with all the others */
  embed({ model, inputs, signal }: EmbedRequest): Promise<EmbedReply> {
    return this.metered(model, async (meter) => {
      const blank = inputs.findIndex((input) => input.trim() === '');
      if (blank >= 0) throw contentError(`text ${blank} of ${inputs.length} is blank`);
      const vectors: number[][] = [];
      for (let at = 0; at < inputs.length; at += EMBED_BATCH) {
        const input = inputs.slice(at, at + EMBED_BATCH).map(wellFormed);
        vectors.push(...(await this.embedBatch(model, input, { meter, signal })));
      }
      return { vectors };
    });
  }

  private async embedBatch(model: string, input: string[], call: { meter: Meter; signal: AbortSignal | undefined }) {
    const read = (json: Record<string, unknown>) => ({
      vectors: readEmbeddings(json, input.length),
      tokens: readTokens(json['usage']),
    });
    const { vectors, tokens } = await this.sender.send({ path: '/embeddings', body: { model, input }, read, ...call });
    if (tokens === undefined) call.meter.note(ESTIMATED);
    call.meter.tokens(tokens ?? { input: await countTokens(input.join('\n')), output: 0 });
    return vectors;
  }

  private async metered<T extends object>(model: string, call: (meter: Meter) => Promise<T>) {
    const meter = new Meter(this.prices.price(model));
    try {
      return { ...(await call(meter)), usage: meter.usage };
    } catch (error) {
      throw error instanceof ModelError ? error.withUsage(meter.usage) : error;
    }
  }

  /** Sends, and falls back from what the model refuses. What is refused is remembered once the request without it is accepted. */
  private async complete(ask: Ask, meter: Meter): Promise<Completion> {
    let known: Capabilities = { ...UNTRIED, ...(await this.recall(ask.model)) };
    let learned: Partial<Capabilities> = {};
    for (;;) {
      const { body, notes } = chatBody(ask, known);
      try {
        const completion = await this.sender.send({
          path: '/chat/completions',
          body,
          read: readCompletion,
          meter,
          signal: ask.signal,
        });
        await this.countCompletion(completion, body, meter);
        meter.note(...notes);
        await this.learn(ask.model, learned);
        return completion;
      } catch (error) {
        const fallback = fallbackFor(error, body, known);
        if (fallback === undefined) throw await this.learnedOfTools(error, ask.model, body);
        known = { ...known, ...fallback.change };
        if (fallback.lasting) learned = { ...learned, ...fallback.change };
      }
    }
  }

  private async countCompletion({ tokens, text, toolCalls }: Completion, body: object, meter: Meter): Promise<void> {
    if (tokens !== undefined) {
      meter.tokens(tokens);
      return;
    }
    const output = await countTokens(text + toolCalls.map((call) => JSON.stringify(call)).join(''));
    meter.tokens({ input: await countTokens(JSON.stringify(body)), output });
    meter.note(ESTIMATED);
  }

  private recall(model: string): Promise<Partial<Capabilities>> {
    return this.capabilities.recall(this.options.baseUrl, model);
  }

  private async learn(model: string, change: Partial<Capabilities>): Promise<void> {
    if (Object.keys(change).length > 0) await this.capabilities.learn(this.options.baseUrl, model, change);
  }

  private async learnedOfTools(error: unknown, model: string, body: Readonly<Record<string, unknown>>): Promise<unknown> {
    if (error instanceof ModelError && refusesTools(error, body)) await this.learn(model, { tools: false });
    return error;
  }
}

/** The completion, unless the provider declined. */
function declined(completion: Completion): Completion {
  const { refusal, finish } = completion;
  if (refusal !== undefined || finish === 'content_filter') throw contentError(refusal ?? 'content_filter');
  return completion;
}

function contentError(detail: string): ModelError {
  return new ModelError('content', explain('content', detail));
}

function check<T>({ text, finish }: Completion, schema: z.ZodType<T>): Checked<T> {
  const read = readJson(text);
  if (!read.ok) return { ok: false, error: finish === 'length' ? `it was cut off (${read.error}); be shorter` : read.error };
  const parsed = schema.safeParse(read.value);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, error: z.prettifyError(parsed.error).slice(0, WRONG_MAX) };
}
