import { stringifyJson } from '#ingest';
import { BLOCKED_DELAY_MS, Trouble } from './trouble.js';

/** More than a value and a reason needs; who sends more is not answering. */
const ANSWER_MAX = 65_536;
const REST_MS = 5_000;

export interface WebhookOptions {
  /** `host` or `host:port` of every address that may be called. */
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Posts JSON and gives the parsed answer. Redirects are not followed: the host that was allowed is the host that is called.
 * 4xx means that somebody has to do something; 408, 429, 5xx and a network failure pass. Throws Trouble.
 */
export async function callWebhook(url: string, body: unknown, options: WebhookOptions): Promise<unknown> {
  const { hostname, host } = new URL(url);
  if (!options.allowedHosts.includes(host) && !options.allowedHosts.includes(hostname))
    throw blocked(`webhooks may not call ${host}: add it to webhook_hosts of the scoring service`);
  const response = await send(url, body, options);
  const text = await response.text().catch((error: unknown) => Promise.reject(resting(messageOf(error))));
  if (!response.ok) throw refusal(response, text);
  if (text.length > ANSWER_MAX) throw blocked(`the webhook ${host} answered with ${text.length} characters`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

async function send(url: string, body: unknown, { timeoutMs, signal }: WebhookOptions): Promise<Response> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'fleetmend' },
      body: stringifyJson(body),
      redirect: 'error',
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (signal.aborted) throw new Trouble({ kind: 'returned' }, null, { cause: error });
    if (timeout.aborted)
      throw new Trouble({ kind: 'failed', error: `the webhook did not answer within ${timeoutMs} ms`, delayMs: REST_MS });
    throw resting(`the webhook cannot be reached: ${messageOf(error)}`);
  }
}

function refusal(response: Response, text: string): Trouble {
  const said = `the webhook answered ${response.status}: ${text.slice(0, 200)}`;
  if (response.status < 500 && response.status !== 408 && response.status !== 429) return blocked(said);
  const seconds = Number(response.headers.get('retry-after'));
  return resting(said, seconds > 0 ? seconds * 1000 : REST_MS);
}

function blocked(error: string): Trouble {
  return new Trouble({ kind: 'blocked', code: 'config', error, delayMs: BLOCKED_DELAY_MS });
}

function resting(error: string, delayMs = REST_MS): Trouble {
  return new Trouble({ kind: 'rest', code: 'unavailable', error, delayMs });
}

function messageOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error instanceof Error ? error.message : String(error)}${cause}`;
}
