import { stringifyJson } from '#ingest';
import { BLOCKED_DELAY_MS, Trouble } from './trouble.js';

/** More than a value and a reason needs; who sends more is not answering. */
const ANSWER_MAX_BYTES = 65_536;
const REST_MS = 5_000;
/** A webhook that says when to come back is believed this far. */
const REST_MAX_MS = 3_600_000;
/** What is wrong is this one question; others may be answered. */
const OF_THE_QUESTION = [400, 413, 422];

export interface WebhookOptions {
  /** `host` or `host:port` of every address that may be called. */
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Posts JSON and gives the parsed answer; one that is no JSON as text, a refusal of this question as {error}. Redirects are not
 * followed: the host that was allowed is the host that is called. Any other status below 500 means that somebody has to do
 * something; 408, 429, 5xx and a network failure pass. Throws Trouble.
 */
export async function callWebhook(url: string, body: unknown, options: WebhookOptions): Promise<unknown> {
  const { hostname, host } = new URL(url);
  const allowed = options.allowedHosts.map((one) => one.toLowerCase());
  if (!allowed.includes(host) && !allowed.includes(hostname))
    throw blocked(`webhooks may not call ${host}: add it to webhook_hosts of the scoring service`);
  const deadline = new Deadline(options);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'fleetmend' },
      body: stringifyJson(body),
      redirect: 'manual',
      signal: deadline.signal,
    });
    return read(response, await textOf(response));
  } catch (error) {
    throw error instanceof Trouble ? error : deadline.troubleOf(error, host);
  } finally {
    deadline.end();
  }
}

/** At most so much of it as an answer may have: the rest is not waited for. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES && response.ok)
      throw blocked(`the webhook answered with more than ${ANSWER_MAX_BYTES} bytes; expected {value, reason}`);
    if (bytes > ANSWER_MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function read(response: Response, text: string): unknown {
  if (!response.ok) return refused(response, text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function refused({ status, headers }: Response, text: string): { error: string } {
  const said = `the webhook answered ${status}: ${text.slice(0, 200)}`;
  if (OF_THE_QUESTION.includes(status)) return { error: said };
  if (status >= 300 && status < 400)
    throw blocked(
      `the webhook answered ${status}, and redirects are not followed: set its final address (${headers.get('location') ?? 'not given'})`,
    );
  if (status < 500 && status !== 408 && status !== 429) throw blocked(said);
  const seconds = Number(headers.get('retry-after'));
  throw resting(said, seconds > 0 ? Math.min(seconds * 1000, REST_MAX_MS) : REST_MS, status >= 500);
}

/** The time-out of one call and the caller's signal. AbortSignal.any would keep a listener on a long-lived signal for each call. */
class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private late = false;
  private readonly abort = (): void => this.controller.abort();

  constructor(private readonly options: WebhookOptions) {
    this.timer = setTimeout(() => {
      this.late = true;
      this.abort();
    }, options.timeoutMs);
    options.signal.addEventListener('abort', this.abort);
    if (options.signal.aborted) this.abort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  troubleOf(error: unknown, host: string): Trouble {
    const { signal, timeoutMs } = this.options;
    if (signal.aborted) return new Trouble({ kind: 'returned' }, null, { cause: error });
    if (!this.late) return resting(`the webhook ${host} cannot be reached: ${messageOf(error)}`);
    const late = `the webhook ${host} did not answer within ${timeoutMs} ms`;
    return new Trouble({ kind: 'failed', error: late, delayMs: REST_MS, late: true }, null, { cause: error });
  }

  end(): void {
    clearTimeout(this.timer);
    this.options.signal.removeEventListener('abort', this.abort);
  }
}

function blocked(error: string): Trouble {
  return new Trouble({ kind: 'blocked', code: 'config', error, delayMs: BLOCKED_DELAY_MS });
}

function resting(error: string, delayMs = REST_MS, ofQuestion = false): Trouble {
  return new Trouble({ kind: 'rest', code: 'unavailable', error, delayMs, ofQuestion });
}

/** What fetch throws says little; its causes say what happened. */
function messageOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('message' in error)) return String(error);
  const cause = 'cause' in error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : '';
  return `${String(error.message)}${cause}`;
}
