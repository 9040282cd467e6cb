import { errorOf } from './classify.js';
import type { Clock } from './clock.js';
import { HttpClient, type HttpReply } from './http-client.js';
import { isRecord, parseJson } from './json-text.js';
import type { Meter } from './meter.js';
import { explain, ModelError } from './model-error.js';
import { cancelled, type Paced, Pacer, Patience } from './pacer.js';
import type { EndpointOptions } from './requests.js';
import { secretHider } from './secrets.js';
import { countTokens } from './tokens.js';

/** Failures before anything was sent. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
/** Beyond the first request of a call: more would turn one slow minute of a provider into a storm. */
const RETRIES = 2;
/** The first wait without a hint; it doubles. */
const BACKOFF_MS = 500;
const MAX_WAIT_MS = 60_000;

/** The note on tokens that the endpoint did not count for us. */
export const ESTIMATED = 'tokens estimated';

export interface Send<T> {
  readonly path: string;
  /** Names the model, too: its pauses are its own. */
  readonly body: Readonly<Record<string, unknown>> & { readonly model: string };
  /** Takes the reply apart; what it throws is handled as the request's failure. */
  readonly read: (reply: Record<string, unknown>) => T;
  readonly meter: Meter;
  readonly signal?: AbortSignal | undefined;
}

interface Call extends Paced {
  readonly retry: number;
}

type Outcome<T> = { readonly value: T } | { readonly failure: ModelError };

/** Gets an answer out of an endpoint: paces, times out, classifies what goes wrong, and tries again where that can help. */
export class Sender {
  private readonly client: HttpClient;
  private readonly pacer: Pacer;
  private readonly hide: (text: string) => string;

  constructor(
    private readonly options: EndpointOptions,
    private readonly clock: Clock,
  ) {
    this.client = new HttpClient(options);
    this.pacer = new Pacer(options.concurrency, clock);
    this.hide = secretHider(options);
  }

  /** @throws ModelError; its usage is for the caller to fill in from the meter */
  async send<T>(send: Send<T>): Promise<T> {
    const patience = new Patience(this.options.maxWaitMs ?? MAX_WAIT_MS);
    const call: Paced = { model: send.body.model, patience, signal: send.signal };
    for (let retry = 0; ; retry += 1) {
      const outcome = await this.pacer.run(() => this.paced(send, retry), call);
      if ('value' in outcome) return outcome.value;
      await this.beforeRetry(outcome.failure, { ...call, retry });
    }
  }

  /** Sets the pause while the slot is still held: whoever gets it next has to see it. */
  private async paced<T>(send: Send<T>, retry: number): Promise<Outcome<T>> {
    const outcome = await this.request(send);
    if ('failure' in outcome && isForAll(outcome.failure)) this.pacer.pause(send.body.model, waitOf(outcome.failure, retry));
    return outcome;
  }

  /** Waits, or throws the error when trying again is not allowed or would take too long. */
  private async beforeRetry(error: ModelError, { retry, patience, signal }: Call): Promise<void> {
    if (error.kind !== 'rate_limit' && error.kind !== 'unavailable') throw error;
    const wait = waitOf(error, retry);
    if (retry >= RETRIES || !patience.covers(wait)) throw error;
    // The pause holds for this call as well: it waits, out of its patience, with all the others.
    if (isForAll(error)) return;
    patience.spend(wait);
    await this.pacer.wait(wait, signal);
  }

  private async request<T>({ path, body, read, meter, signal }: Send<T>): Promise<Outcome<T>> {
    const started = performance.now();
    const deadline = new Deadline(this.options.timeoutMs, signal);
    try {
      return { value: read(this.objectIn(await this.client.send(path, body, deadline.signal))) };
    } catch (error) {
      const failure = error instanceof ModelError ? error : deadline.errorOf(error);
      if (mayBeCharged(failure)) {
        meter.tokens({ input: await countTokens(JSON.stringify(body)), output: 0 });
        meter.note(ESTIMATED);
      }
      return { failure };
    } finally {
      meter.request(performance.now() - started);
      deadline.end();
    }
  }

  private objectIn(reply: HttpReply): Record<string, unknown> {
    if (reply.status >= 300) throw errorOf(reply, this.clock.now(), this.hide);
    const read = parseJson(reply.text);
    if (!read.ok) throw notJson(reply);
    if (!isRecord(read.value)) throw unusable('an answer that is not an object', reply.status);
    const { error, choices, data } = read.value;
    if (error !== undefined && error !== null && choices === undefined && data === undefined) {
      throw errorOf(reply, this.clock.now(), this.hide);
    }
    return read.value;
  }
}

/** Whether all calls for this model have to wait, and not only the one that failed. */
function isForAll({ kind, retryAfterMs }: ModelError): boolean {
  return kind === 'rate_limit' || (kind === 'unavailable' && retryAfterMs !== undefined);
}

function waitOf({ retryAfterMs }: ModelError, retry: number): number {
  return retryAfterMs ?? BACKOFF_MS * 2 ** retry;
}

/** The endpoint answered something no fallback understands; it may do better in a moment. */
export function unusable(what: string, status: number): ModelError {
  return new ModelError('unavailable', explain('unavailable', `HTTP ${status} with ${what}`), { status });
}

function notJson({ status, headers, text }: HttpReply): ModelError {
  const isPage = /html/i.test(headers.get('content-type') ?? '') || /^\s*<(!doctype|html)/i.test(text);
  if (!isPage) return unusable('a body that is not JSON, or cut off', status);
  const detail = `HTTP ${status} with a web page, such as a gateway's login`;
  return new ModelError('config', explain('config', detail), { status });
}

/** Whoever hangs up in the middle, or cannot read the answer, may have to pay for it all the same; never for what was not sent. */
function mayBeCharged({ kind, status, cause }: ModelError): boolean {
  if (wasNeverSent(cause)) return false;
  if (kind === 'timeout' || kind === 'cancelled') return true;
  return kind === 'unavailable' && (status === undefined || status < 300);
}

function wasNeverSent(error: unknown): boolean {
  if (!isRecord(error)) return false;
  // The operating system's own time-out has the same code while it connects and later.
  if (error['syscall'] === 'connect' || NEVER_SENT.includes(String(error['code']))) return true;
  return wasNeverSent(error['cause']);
}

/** Codes of an error and of what caused it, as Node's network and undici give them. */
function codesOf(error: unknown): string[] {
  if (!isRecord(error)) return [];
  const { code, cause } = error;
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(cause)];
}

/** Time-out and cancellation of one request. AbortSignal.any would keep a listener on a long-lived signal for each request. */
class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private late = false;
  private readonly abort = (): void => this.controller.abort();

  constructor(
    private readonly timeoutMs: number,
    private readonly caller?: AbortSignal,
  ) {
    this.timer = setTimeout(() => {
      this.late = true;
      this.abort();
    }, timeoutMs);
    caller?.addEventListener('abort', this.abort);
    if (caller?.aborted === true) this.abort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  errorOf(error: unknown): ModelError {
    if (this.caller?.aborted === true) return cancelled(this.caller);
    // A connection that undici gave up before our own time was over is an outage, not a slow answer.
    if (this.late || (!wasNeverSent(error) && codesOf(error).some((code) => /^UND_ERR_\w+_TIMEOUT$/.test(code)))) {
      return new ModelError('timeout', explain('timeout', `no complete answer in ${this.timeoutMs} ms`), { cause: error });
    }
    if (codesOf(error).some((code) => /CERT|SIGNATURE/.test(code))) {
      return new ModelError('config', explain('config', `certificate: ${codesOf(error).join(', ')}`), { cause: error });
    }
    const detail = [error instanceof Error ? error.message : String(error), ...codesOf(error)].join(', ');
    return new ModelError('unavailable', explain('unavailable', detail), { cause: error });
  }

  end(): void {
    clearTimeout(this.timer);
    this.caller?.removeEventListener('abort', this.abort);
  }
}
