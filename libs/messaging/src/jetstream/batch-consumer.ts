import type { Consumer, JetStreamClient, JsMsg } from '@nats-io/jetstream';
import type { LoggerService } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerContract } from '#contracts';
import type { AttemptStore, Delivery, StreamPublisher } from '../delivery.js';
import { retryDelay, settle } from '../settlement.js';
import { deadLetterOf } from './dead-letters.js';
import { decodeMessage, type Decoder } from './decode.js';
import { MessageSource } from './message-source.js';

export interface BatchConsumerOptions {
  readonly contract: ConsumerContract;
  readonly decoder: Decoder;
  readonly handle: (batch: readonly Delivery<unknown>[]) => Promise<void>;
  readonly publisher: StreamPublisher;
  readonly attempts: AttemptStore;
  readonly maxAttempts: number;
  readonly ackWaitMs: number;
  readonly maxPayload: () => number;
  readonly logger: LoggerService;
  readonly onHealth: (dependency: string, detail: string | null) => void;
  readonly onBatch: (size: number, seconds: number) => void;
}

/** One delivery in hand: the broker's message and what it decodes to. */
interface Held {
  readonly message: JsMsg;
  readonly delivery: Delivery<unknown>;
  /** The number of this attempt, when it was written down before it began. */
  readonly attempt?: number;
}

/** A message that came back this often may be killing its process: it is handled alone, its attempt written first. */
const SUSPICIOUS_DELIVERIES = 3;

const TIDY_MS = 10_000;

const INTERRUPTED = Symbol('the service stops');

/** The loop of every consumer (DATAFLOW): take a batch, decode, hand over, acknowledge; one batch in flight. */
export class BatchConsumer {
  private readonly source: MessageSource;
  private current: readonly JsMsg[] = [];
  private heartbeat: NodeJS.Timeout | undefined;
  private tidying: NodeJS.Timeout | undefined;
  private loop: Promise<void> | undefined;
  private stopping = false;

  constructor(private readonly options: BatchConsumerOptions) {
    const { logger, contract } = options;
    this.source = new MessageSource((detail) => {
      logger.warn(`${contract.durable}: pulling again: ${detail}`);
    });
  }

  async start(js: JetStreamClient): Promise<void> {
    const { contract, ackWaitMs } = this.options;
    const consumer = await js.consumers.get(contract.event.stream, contract.durable);
    this.source.start(consumer);
    this.tidying = setInterval(() => void this.tidy(consumer), TIDY_MS);
    this.heartbeat = setInterval(() => this.extend(), ackWaitMs / 3);
    this.loop = this.run();
  }

  /** Stops pulling, finishes the batch in hand (at most `graceMs`), gives back the rest. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    await this.source.stop((message) => quietly(() => message.nak()));
    await Promise.race([this.loop, sleep(graceMs, undefined, { ref: false })]);
    clearInterval(this.heartbeat);
    clearInterval(this.tidying);
    for (const message of this.current) quietly(() => message.nak());
  }

  /** Tells the broker that what is held is being worked on, so that it is not given to another copy meanwhile. */
  private extend(): void {
    for (const message of [...this.current, ...this.source.held]) quietly(() => message.working());
  }

  /** A process killed after it wrote an attempt down, while another finished the message, leaves a row that nobody asks for again. */
  private async tidy(consumer: Consumer): Promise<void> {
    const { contract, attempts } = this.options;
    try {
      const { ack_floor: floor } = await consumer.info();
      await attempts.forgetUpTo(contract.durable, contract.event.stream, floor.stream_seq);
    } catch {
      // What is away is said by the loop; the next time will do.
    }
  }

  private async run(): Promise<void> {
    for (;;) {
      const batch = await this.source.take();
      if (batch.length === 0) return;
      this.current = batch;
      try {
        await this.process(batch);
      } catch (error) {
        // Nothing may end this loop but stop(): what could not even be settled comes back after ack_wait.
        this.options.logger.error(
          `${this.options.contract.durable}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
        await sleep(1_000);
      }
      this.current = [];
    }
  }

  private async process(batch: readonly JsMsg[]): Promise<void> {
    const started = performance.now();
    const fresh: Held[] = [];
    const suspicious: Held[] = [];
    // Side by side: a project that nobody knows is waited for once, not once per message that names it.
    const outcomes = await this.patiently(() => Promise.all(batch.map((one) => decodeMessage(one, this.options.decoder))));
    if (outcomes === INTERRUPTED) {
      batch.forEach((one) => quietly(() => one.nak()));
      return;
    }
    for (const [index, message] of batch.entries()) {
      const decoded = outcomes[index];
      if (decoded === undefined) continue;
      if (!decoded.ok) await this.bury(message, decoded.reason);
      else
        (message.info.deliveryCount > SUSPICIOUS_DELIVERIES ? suspicious : fresh).push({ message, delivery: decoded.delivery });
    }
    if (fresh.length > 0) await this.together(fresh);
    for (const one of suspicious) await this.alone(one);
    this.options.onBatch(batch.length, (performance.now() - started) / 1000);
  }

  /** Handles deliveries in one go; when that fails for reasons of their own, finds the one that causes it. */
  private async together(batch: readonly Held[]): Promise<void> {
    try {
      if ((await this.patiently(() => this.options.handle(batch.map(({ delivery }) => delivery)))) === INTERRUPTED) {
        giveBack(batch);
        return;
      }
    } catch (error) {
      return this.narrow(batch, error);
    }
    await this.done(batch);
  }

  /**
   * Runs `work` for as long as the database or the broker is away: what is held stays ours by heartbeats, nothing is counted.
   * Gives up only when the service stops.
   */
  private async patiently<T>(work: () => Promise<T>): Promise<T | typeof INTERRUPTED> {
    let lost: string | undefined;
    for (let holds = 0; ; holds += 1) {
      try {
        const result = await work();
        if (lost !== undefined) this.options.onHealth(lost, null);
        return result;
      } catch (error) {
        const decision = settle(error, 1, holds);
        if (decision.action !== 'hold') throw error;
        lost = decision.dependency;
        this.options.onHealth(decision.dependency, error instanceof Error ? error.message : String(error));
        if (await this.interrupted(decision.delayMs)) return INTERRUPTED;
      }
    }
  }

  private async narrow(batch: readonly Held[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first !== undefined) return this.failed(first, error);
    const middle = Math.ceil(batch.length / 2);
    await this.together(batch.slice(0, middle));
    await this.together(batch.slice(middle));
  }

  private async failed(one: Held, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    const decision = settle(error, 1, 0);
    if (decision.action === 'dead') return this.bury(one.message, decision.reason);
    const attempts = await this.patiently(async () => one.attempt ?? (await this.count(one, reason)));
    if (attempts === INTERRUPTED) {
      giveBack([one]);
      return;
    }
    const delay = retryDelay(attempts, this.options.maxAttempts);
    if (delay === null) return this.bury(one.message, `failed ${attempts} times, last: ${reason}`);
    this.options.logger.warn(`${this.options.contract.durable}: attempt ${attempts} of ${one.message.subject} failed: ${reason}`);
    quietly(() => one.message.nak(delay));
  }

  /** For a message that may kill the process: its attempt is on record before it is touched. */
  private async alone(one: Held): Promise<void> {
    const count = await this.patiently(() => this.count(one, null));
    if (count === INTERRUPTED) {
      giveBack([one]);
      return;
    }
    if (count > this.options.maxAttempts)
      return this.bury(one.message, `delivered ${one.message.info.deliveryCount} times without being finished`);
    await this.together([{ ...one, attempt: count }]);
  }

  private count(one: Held, error: string | null): Promise<number> {
    return this.options.attempts.begin(this.options.contract.durable, nameOf(one.message), error);
  }

  private async done(batch: readonly Held[]): Promise<void> {
    const retried = batch.filter(({ message }) => message.info.deliveryCount > 1).map(({ message }) => nameOf(message));
    if (retried.length > 0) await this.patiently(() => this.options.attempts.forget(this.options.contract.durable, retried));
    for (const { message } of batch) quietly(() => message.ack());
  }

  /** Publishes the dead letter, for as long as it takes, then acknowledges. */
  private async bury(message: JsMsg, reason: string): Promise<void> {
    const { contract, publisher, maxPayload, logger } = this.options;
    for (let tries = 0; ; tries += 1) {
      const [failure] = await publisher.publish([deadLetterOf(message, contract, reason, maxPayload())]);
      if (failure === undefined) break;
      logger.warn(`${contract.durable}: dead letter not stored yet: ${failure.reason}`);
      if (await this.interrupted(Math.min(5_000, 200 * 2 ** tries))) {
        quietly(() => message.nak());
        return;
      }
    }
    logger.warn(`${contract.durable}: dead letter from ${message.subject}: ${reason}`);
    quietly(() => message.ack());
  }

  private async interrupted(ms: number): Promise<boolean> {
    const until = Date.now() + ms;
    while (!this.stopping && Date.now() < until) await sleep(Math.min(100, ms));
    return this.stopping;
  }
}

function giveBack(batch: readonly Held[]): void {
  for (const { message } of batch) quietly(() => message.nak());
}

/** Names a message for the attempts table. */
function nameOf(message: JsMsg): string {
  return `${message.info.stream}:${message.seq}`;
}

/** Acknowledging on a connection that has just closed throws; the message then comes back after ack_wait, which is right. */
function quietly(settlement: () => void): void {
  try {
    settlement();
  } catch {
    // See above.
  }
}
