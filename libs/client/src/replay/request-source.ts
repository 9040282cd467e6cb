import { jetstream, JetStreamApiError, type Consumer, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { REPLAY_STREAM, replayDurable } from '../../../contracts/src/replay-queue.js';

/** A pull without a request ends after this and is asked again. */
const PULL_MS = 30_000;
/** A pull whose end got lost is given up this long after it should have ended. */
const OVERDUE_MS = 1_000;
const PAUSE_MS = 1_000;
const REQUEST_TIMEOUT = 408;
const NO_CONSUMER = 10_014;
const NO_STREAM = 10_059;

export interface SourceOptions {
  readonly project: string;
  /** The prefix of JetStream's API, where the broker's accounts give this user another one. */
  readonly apiPrefix?: string;
}

/** The requests of a project, one by one: one is pulled only when somebody has time for it, so that other workers get their share. */
export class RequestSource {
  private readonly pulls = new Set<ConsumerMessages>();
  private readonly closing = new AbortController();
  private consumer: Promise<Consumer> | undefined;
  private trouble: string | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly options: SourceOptions,
    private readonly onError: (error: Error) => void,
  ) {}

  close(): void {
    this.closing.abort();
    for (const pull of this.pulls) pull.stop();
  }

  /** The next request, taken for good: whoever is lost with it is a time-out to the one who asked. Undefined when closed. */
  async take(): Promise<JsMsg | undefined> {
    while (!this.closing.signal.aborted) {
      try {
        const message = await this.pull();
        // Confirmed, or it may come again: better no run than two.
        if (message !== undefined && (await message.ackAck())) return message;
        this.trouble = undefined;
      } catch (error) {
        this.consumer = undefined;
        this.say(error);
        await sleep(PAUSE_MS, undefined, { signal: this.closing.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  private async pull(): Promise<JsMsg | undefined> {
    this.consumer ??= this.find();
    const pull = await (await this.consumer).fetch({ max_messages: 1, expires: PULL_MS });
    this.pulls.add(pull);
    if (this.closing.signal.aborted) pull.stop();
    const overdue = setTimeout(() => pull.stop(), PULL_MS + OVERDUE_MS);
    void stopWhenExpired(pull);
    try {
      for await (const message of pull) return message;
      return undefined;
    } finally {
      clearTimeout(overdue);
      this.pulls.delete(pull);
    }
  }

  private find(): Promise<Consumer> {
    const { project, apiPrefix } = this.options;
    const client = jetstream(this.connection, apiPrefix === undefined ? {} : { apiPrefix });
    return client.consumers.get(REPLAY_STREAM, replayDurable(project));
  }

  /** Once per trouble. That nothing was ever asked of this project is none. */
  private say(error: unknown): void {
    if (error instanceof JetStreamApiError && (error.code === NO_CONSUMER || error.code === NO_STREAM)) return;
    const told = error instanceof Error ? error : new Error(String(error));
    if (this.closing.signal.aborted || told.message === this.trouble) return;
    this.trouble = told.message;
    this.onError(told);
  }
}

/**
 * nats-server 2.9 sometimes says that a pull has expired without saying how much of it was left; the client then does not count it as
 * ended and waits for heartbeats that nobody sends, while nothing is asked for.
 */
async function stopWhenExpired(pull: ConsumerMessages): Promise<void> {
  for await (const status of pull.status()) if (status.type === 'debug' && status.code === REQUEST_TIMEOUT) pull.stop();
}
