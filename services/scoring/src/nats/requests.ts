import { NoRespondersError, RequestError, TimeoutError, type NatsConnection } from '@nats-io/transport-node';
import { stringifyJson } from '#ingest';
import { Trouble } from '../jobs/trouble.js';

/** Nobody listens on the subject. */
export class NobodyAnswers extends Error {
  override readonly name = 'NobodyAnswers';
}

/** The question does not fit into one message of the broker, and never will. */
export class QuestionTooLarge extends Error {
  override readonly name = 'QuestionTooLarge';
}

export interface AskOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const REST_MS = 5_000;
/** What headers and framing may take of the broker's largest message. */
const FRAMING_BYTES = 1_024;

/**
 * Asks over core NATS, and gives the parsed answer; one that is no JSON as text. Throws NobodyAnswers, QuestionTooLarge, or Trouble
 * when the answer took too long, the broker is away, or the caller stops.
 */
export async function ask(nc: NatsConnection, subject: string, body: unknown, options: AskOptions): Promise<unknown> {
  const question = Buffer.from(stringifyJson(body));
  const most = (nc.info?.max_payload ?? Infinity) - FRAMING_BYTES;
  if (question.length > most)
    throw new QuestionTooLarge(`${question.length} bytes were to be sent to ${subject}, and the broker takes ${most}`);
  try {
    const answer = await orAborted(nc.request(subject, question, { timeout: options.timeoutMs }), options.signal);
    return parsed(answer.string());
  } catch (error) {
    throw troubleOf(error, subject, options);
  }
}

/** Throws Trouble when the signal fires first. The listener goes with the answer: one signal ends all that a process asks. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => (stop = () => reject(new Trouble({ kind: 'returned' }))));
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function troubleOf(error: unknown, subject: string, { timeoutMs }: AskOptions): Error {
  if (error instanceof Trouble) return error;
  if (isNobody(error)) return new NobodyAnswers(`nobody answers ${subject}`, { cause: error });
  const detail = error instanceof Error ? error.message : String(error);
  if (error instanceof TimeoutError)
    return new Trouble({ kind: 'failed', error: `no answer on ${subject} within ${timeoutMs} ms`, delayMs: REST_MS, late: true });
  return new Trouble({ kind: 'rest', code: 'unavailable', error: detail, delayMs: REST_MS }, null, { cause: error });
}

function isNobody(error: unknown): boolean {
  return error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders());
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
