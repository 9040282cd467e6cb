import type { Trace, Turn } from '#contracts';
import { addUsage, ModelError, NO_USAGE, type Usage } from '#llm';
import { digest, type Digest } from './digest/digest.js';
import { fenced, type Fenced, type Section } from '#domain/text';
import { preamble } from './prompts/preamble.js';
import { hashOf, type Prompt } from './prompts/prompt.js';
import type { JudgeModel, JudgeTask } from './task.js';

/** This judgement can have no value, and asking again would not change that. */
export class JudgementError extends Error {
  override readonly name = 'JudgementError';

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface DigestShare {
  /** The id of each tool call by its span's id; one metric always gives the same, or none. */
  readonly callIds?: ReadonlyMap<string, string>;
  /** What of the budget (0 to 1) goes to other material. */
  readonly share?: number;
}

/** Characters of ordinary text in a token, for bounds that need not be exact. */
const UNITS_PER_TOKEN = 4;

/** One metric being judged for one trace: asks the model, keeps the digest within its budget, and counts what is spent. */
export class Judgement {
  readonly turn: Turn;
  readonly trace: Trace;
  private spent: Usage = NO_USAGE;
  private tokens: number;
  private isTightened = false;
  private readonly digests = new Map<number, Digest>();

  constructor(
    private readonly task: JudgeTask,
    private readonly model: JudgeModel,
  ) {
    this.turn = task.turn;
    this.trace = task.trace;
    this.tokens = task.digestTokens;
  }

  /** Everything that the calls of this judgement spent so far, failed ones included. */
  get usage(): Usage {
    return this.spent;
  }

  /** The trace within what is left of the budget. Made once for each length. */
  digest({ callIds, share = 0 }: DigestShare = {}): Digest {
    const tokens = Math.floor(this.tokens * (1 - share));
    const known = this.digests.get(tokens);
    if (known !== undefined) return known;
    const { countTokens } = this.model;
    const made = digest(this.turn, this.trace, { tokens, countTokens, ...(callIds === undefined ? {} : { callIds }) });
    if (made === undefined)
      throw new JudgementError('too_large', `The trace does not fit ${tokens} tokens, even without the texts of its steps.`);
    this.digests.set(tokens, made);
    return made;
  }

  /** Characters that stand for `share` of the budget. */
  units(share: number): number {
    return Math.floor(this.tokens * share) * UNITS_PER_TOKEN;
  }

  /** Asks about material from outside. `material` is called again when the model finds it too long. */
  ask<T>(prompt: Prompt<T>, material: () => readonly Section[]): Promise<T> {
    return this.askComposed(prompt, () => fenced(material()));
  }

  /** The same where the caller fences the material itself. */
  async askComposed<T>(prompt: Prompt<T>, compose: () => Fenced): Promise<T> {
    const first = compose();
    try {
      return await this.send(prompt, first);
    } catch (error) {
      if (!isTooLong(error)) throw asJudgementError(error);
      const second = this.isTightened ? first : this.tightened(compose);
      if (second.user === first.user) throw tooLarge('The model takes no text of this length.', error);
      return await this.sendTightened(prompt, second);
    }
  }

  /**
   * A result that other metrics of this trace need too, under the name and the hash of its prompt. It must depend on
   * the trace and that prompt only.
   */
  shared<T>(prompt: Prompt<unknown>, make: () => Promise<T>): Promise<T> {
    return this.task.stages.once(`${prompt.name}@${hashOf([prompt])}`, make);
  }

  /** Half of the budget for the rest of this judgement: a model that found one question too long finds the next one too long. */
  private tightened(compose: () => Fenced): Fenced {
    this.isTightened = true;
    this.tokens = Math.floor(this.tokens / 2);
    return compose();
  }

  private async sendTightened<T>(prompt: Prompt<T>, material: Fenced): Promise<T> {
    try {
      return await this.send(prompt, material);
    } catch (error) {
      throw isTooLong(error)
        ? tooLarge('The model takes no text of this length, even shortened.', error)
        : asJudgementError(error);
    }
  }

  private async send<T>({ name, text, schema, maxOutputTokens }: Prompt<T>, { fence, user }: Fenced): Promise<T> {
    const { signal } = this.task;
    const system = `${preamble.replaceAll('{{fence}}', fence)}\n\n${text}`;
    const question = { name, system, user, schema, maxOutputTokens, temperature: 0 };
    try {
      const reply = await this.model.ask({ ...question, ...(signal === undefined ? {} : { signal }) });
      this.spent = addUsage(this.spent, reply.usage);
      return reply.value;
    } catch (error) {
      if (error instanceof ModelError) this.spent = addUsage(this.spent, error.usage);
      throw error;
    }
  }
}

function isTooLong(error: unknown): error is ModelError {
  return error instanceof ModelError && error.kind === 'context_length';
}

function tooLarge(message: string, cause: unknown): JudgementError {
  return new JudgementError('too_large', message, { cause });
}

/** What concerns this text alone fails this score alone; everything else is for the caller to wait for or to stop at. */
function asJudgementError(error: unknown): unknown {
  if (!(error instanceof ModelError)) return error;
  switch (error.kind) {
    case 'content':
    case 'invalid_output':
      return new JudgementError(error.kind, error.message, { cause: error });
    default:
      return error;
  }
}
