import { NoRespondersError, RequestError, TimeoutError, type NatsConnection } from '@nats-io/transport-node';
import { stringifyJson } from '#ingest';
import { backoffMs, Trouble } from '../jobs/trouble.js';

/** Nobody listens on the subject. */
export class NobodyAnswers extends Error {
  override readonly name = 'NobodyAnswers';
}

const REST_MS = 5_000;

/**
 * Asks over core NATS, and gives the parsed answer; one that is no JSON as text. Throws NobodyAnswers, or Trouble when the answer
 * took too long or the broker is away.
 */
export async function ask(nc: NatsConnection, subject: string, body: unknown, timeoutMs: number): Promise<unknown> {
  try {
    const text = (await nc.request(subject, stringifyJson(body), { timeout: timeoutMs })).string();
    return parsed(text);
  } catch (error) {
    if (isNobody(error)) throw new NobodyAnswers(`nobody answers ${subject}`, { cause: error });
    const detail = error instanceof Error ? error.message : String(error);
    if (error instanceof TimeoutError)
      throw new Trouble({ kind: 'failed', error: `no answer on ${subject} within ${timeoutMs} ms`, delayMs: backoffMs(0) });
    throw new Trouble({ kind: 'rest', code: 'unavailable', error: detail, delayMs: REST_MS }, null, { cause: error });
  }
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
