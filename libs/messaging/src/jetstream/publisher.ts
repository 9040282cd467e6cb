import {
  createInbox,
  headers,
  InvalidArgumentError,
  InvalidSubjectError,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import type { OutgoingMessage, PublishFailure, StreamPublisher } from '../delivery.js';

type Failure = Omit<PublishFailure, 'index'>;

interface Waiting {
  readonly settle: (failure: Failure | null) => void;
}

/** JetStream's error codes for "this stream is full": messages, bytes, messages per subject, and the account's storage. */
const FULL = new Set([10_077, 10_023, 10_047, 10_028]);
/** JetStream's error code for a message larger than its stream takes. */
const TOO_LARGE = 10_054;
const FULL_TEXT = /maximum|exceeded|insufficient/i;
const ACK_TIMEOUT_MS = 5_000;

/** Core publishes with one shared reply inbox; acknowledgements are matched by a counter. A batch costs one flush, not one timer each. */
export class JetStreamPublisher implements StreamPublisher {
  private readonly prefix: string;
  private readonly subscription: Subscription;
  private readonly waiting = new Map<string, Waiting>();
  private counter = 0;

  /** `service` names the inbox prefix of the connection, which permissions know. */
  constructor(
    private readonly nc: NatsConnection,
    service: string,
  ) {
    this.prefix = createInbox(`_INBOX.${service}`);
    this.subscription = nc.subscribe(`${this.prefix}.*`, { callback: (error, message) => this.answered(error, message) });
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<PublishFailure[]> {
    const failures: PublishFailure[] = [];
    if (messages.length === 0) return failures;
    const tokens: string[] = [];
    let open = messages.length;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.expire(tokens), ACK_TIMEOUT_MS);
      const done = (): void => {
        open -= 1;
        if (open > 0) return;
        clearTimeout(timer);
        resolve();
      };
      messages.forEach((message, index) => {
        const settle = (failure: Failure | null): void => {
          if (failure !== null) failures.push({ index, ...failure });
          done();
        };
        tokens.push(this.send(message, settle));
      });
    });
    return failures;
  }

  close(): void {
    this.subscription.unsubscribe();
    this.expire([...this.waiting.keys()]);
  }

  private send(message: OutgoingMessage, settle: Waiting['settle']): string {
    this.counter += 1;
    const token = this.counter.toString(36);
    this.waiting.set(token, { settle });
    try {
      const options = headersOf(message);
      this.nc.publish(message.subject, message.data, {
        reply: `${this.prefix}.${token}`,
        ...(options === undefined ? {} : { headers: options }),
      });
    } catch (error) {
      // The client refuses what the broker would close the connection for: too large, or no valid subject.
      const hopeless = error instanceof InvalidArgumentError || error instanceof InvalidSubjectError;
      this.settle(token, { ...passing(error instanceof Error ? error.message : String(error)), hopeless });
    }
    return token;
  }

  private answered(error: Error | null, message: Msg): void {
    const token = message.subject.slice(this.prefix.length + 1);
    if (error !== null) return this.settle(token, passing(error.message));
    if (message.headers?.code === 503) return this.settle(token, passing('no stream listens on this subject'));
    this.settle(token, failureOf(message));
  }

  private expire(tokens: readonly string[]): void {
    for (const token of tokens) this.settle(token, passing(`no acknowledgement within ${ACK_TIMEOUT_MS} ms`));
  }

  private settle(token: string, failure: Failure | null): void {
    const waiting = this.waiting.get(token);
    if (waiting === undefined) return;
    this.waiting.delete(token);
    waiting.settle(failure);
  }
}

/** A failure that the next try may not have. */
function passing(reason: string): Failure {
  return { reason, full: false, hopeless: false };
}

function headersOf({ id, headers: extra }: OutgoingMessage): MsgHdrs | undefined {
  if (id === null && extra === undefined) return undefined;
  const all = headers();
  if (id !== null) all.set('Nats-Msg-Id', id);
  for (const [name, value] of Object.entries(extra ?? {})) all.set(name, value);
  return all;
}

/** Reads a PubAck. The common one is told by its first bytes, without parsing. */
function failureOf(message: Msg): Failure | null {
  const text = message.string();
  if (!text.includes('"error"')) return null;
  const { error } = JSON.parse(text) as { error?: { err_code?: number; description?: string } };
  if (error === undefined) return null;
  const reason = error.description ?? 'refused by the broker';
  const hopeless = error.err_code === TOO_LARGE;
  return { reason, full: !hopeless && (FULL.has(error.err_code ?? 0) || FULL_TEXT.test(reason)), hopeless };
}
