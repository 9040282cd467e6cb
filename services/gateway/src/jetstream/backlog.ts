import { jetstreamManager, type JetStreamManager, type MsgRequest } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { consumers, requiredConsumers, turnEnded, type ConsumerContract } from '#contracts';

/** How far one durable is behind. */
export interface ConsumerBacklog {
  readonly stream: string;
  readonly consumer: string;
  readonly pending: number;
  readonly unacknowledged: number;
  readonly redelivered: number;
}

/** A scrape or a probe must answer before whoever asks gives up. */
const TIMEOUT_MS = 2_000;
const MESSAGE_NOT_FOUND = 10_037;
/** The server takes this since 2.9; the client's type has it for direct gets only. */
const OLDEST_TURN = { seq: 1, next_by_subj: turnEnded.pattern } as MsgRequest;

/** Asks JetStream where its consumers are. Everything throws when the broker does not answer in time. */
export class Backlog {
  private manager: Promise<JetStreamManager> | undefined;

  constructor(private readonly nc: NatsConnection) {}

  /** Consumers that do not exist (yet) are left out. */
  async ofConsumers(): Promise<ConsumerBacklog[]> {
    const jsm = await this.jsm();
    const answers = await Promise.allSettled(requiredConsumers.map((contract) => backlogOf(jsm, contract)));
    const known = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const [first] = answers;
    if (known.length === 0 && first?.status === 'rejected') throw first.reason;
    return known;
  }

  /** Seconds since the oldest turn that scoring has not finished was stored; 0 when there is none. */
  async oldestTurnAgeS(): Promise<number> {
    const jsm = await this.jsm();
    try {
      const message = await jsm.streams.getMessage(turnEnded.stream, OLDEST_TURN);
      return message === null ? 0 : Math.max(0, (Date.now() - message.time.getTime()) / 1000);
    } catch (error) {
      if ((error as { code?: unknown }).code === MESSAGE_NOT_FOUND) return 0;
      throw error;
    }
  }

  /** Throws unless the stream and the durable that turns go through are there. */
  async check(): Promise<void> {
    await backlogOf(await this.jsm(), consumers.scoringTurns);
  }

  private async jsm(): Promise<JetStreamManager> {
    this.manager ??= jetstreamManager(this.nc, { timeout: TIMEOUT_MS, checkAPI: false });
    return this.manager;
  }
}

async function backlogOf(jsm: JetStreamManager, { durable, event }: ConsumerContract): Promise<ConsumerBacklog> {
  const info = await jsm.consumers.info(event.stream, durable);
  return {
    stream: event.stream,
    consumer: durable,
    pending: info.num_pending,
    unacknowledged: info.num_ack_pending,
    redelivered: info.num_redelivered,
  };
}
