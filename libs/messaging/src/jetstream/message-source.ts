import type { Consumer, ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';

export const BATCH_MESSAGES = 256;
const BATCH_BYTES = 16 * 1024 * 1024;
/** A short wait lets a burst become one transaction; a batch of some size has waited enough. */
const LINGER_MS = 2;
const LINGER_BELOW = 32;
/** A pull that is not filled ends after this and is asked again. */
const PULL_MS = 5_000;
const RETRY_MS = 500;
/** A pull whose end got lost is given up this long after it should have ended. */
const OVERDUE_MS = 1_000;
const REQUEST_TIMEOUT = 408;
/** What may be on its way at once: messages can be megabytes, and the broker is asked for a number of them. */
const PULL_BYTES = 32 * 1024 * 1024;
const LEAST_PULL = 8;

/**
 * Messages of a durable, pulled a batch ahead of whoever takes them and no further, so that other copies of the service get
 * their share. Everything pulled and not taken yet is in `held`, where it can be kept alive. Pulls one by one rather than by the
 * client's `consume`: that one asks for more as soon as a message arrives, whether or not anybody has time for it.
 */
export class MessageSource {
  private readonly queue: JsMsg[] = [];
  private pull: ConsumerMessages | undefined;
  private receiving: Promise<void> | undefined;
  private averageBytes = 8 * 1024;
  private wake: (() => void) | undefined;
  private makeRoom: (() => void) | undefined;
  private stopping = false;

  constructor(private readonly onTrouble: (detail: string) => void) {}

  get held(): readonly JsMsg[] {
    return this.queue;
  }

  start(consumer: Consumer): void {
    this.receiving = this.receive(consumer);
  }

  /** Stops pulling and gives back what nobody has taken. */
  async stop(giveBack: (message: JsMsg) => void): Promise<void> {
    this.stopping = true;
    this.pull?.stop();
    this.wake?.();
    this.makeRoom?.();
    await this.receiving;
    this.queue.splice(0).forEach(giveBack);
  }

  /** What is waiting, at most a batch by number and bytes; empty only when stopping. */
  async take(): Promise<JsMsg[]> {
    while (this.queue.length === 0 && !this.stopping) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    if (this.stopping) return [];
    if (this.queue.length < LINGER_BELOW) await sleep(LINGER_MS);
    let bytes = 0;
    let count = 0;
    for (const message of this.queue.slice(0, BATCH_MESSAGES)) {
      bytes += message.data.length;
      if (count > 0 && bytes > BATCH_BYTES) break;
      count += 1;
    }
    const batch = this.queue.splice(0, count);
    this.makeRoom?.();
    return batch;
  }

  private async receive(consumer: Consumer): Promise<void> {
    while (!this.stopping) {
      if (this.queue.length >= BATCH_MESSAGES) {
        await new Promise<void>((resolve) => {
          this.makeRoom = resolve;
        });
        continue;
      }
      await this.pullOnce(consumer);
    }
  }

  private async pullOnce(consumer: Consumer): Promise<void> {
    let overdue: NodeJS.Timeout | undefined;
    try {
      const pull = await consumer.fetch({ max_messages: this.portion(), expires: PULL_MS });
      this.pull = pull;
      overdue = setTimeout(() => pull.stop(), PULL_MS + OVERDUE_MS);
      void stopWhenExpired(pull);
      for await (const message of pull) {
        this.averageBytes += (message.data.length - this.averageBytes) / 64;
        this.queue.push(message);
        this.wake?.();
      }
    } catch (error) {
      if (this.stopping) return;
      this.onTrouble(error instanceof Error ? error.message : String(error));
      await sleep(RETRY_MS);
    } finally {
      clearTimeout(overdue);
    }
  }

  private portion(): number {
    return Math.max(LEAST_PULL, Math.min(BATCH_MESSAGES, Math.floor(PULL_BYTES / Math.max(1, this.averageBytes))));
  }
}

/**
 * nats-server 2.9 sometimes says that a pull has expired without saying how much of it was left; the client then does not count
 * it as ended and waits for heartbeats that nobody sends, five seconds in which nothing is asked for.
 */
async function stopWhenExpired(pull: ConsumerMessages): Promise<void> {
  for await (const status of pull.status()) {
    if (status.type === 'debug' && status.code === REQUEST_TIMEOUT) pull.stop();
  }
}
