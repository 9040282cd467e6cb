import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiError,
  jetstream,
  jetstreamManager,
  ReplayPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type MsgRequest,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { requiredConsumers, deadLetter, streams, type ConsumerContract, type StreamName } from '#contracts';
import { connectNats } from '#messaging/jetstream';

export interface ConsumerFigures {
  readonly pending: number;
  readonly unacknowledged: number;
  readonly ackFloor: number;
  /** How often it has delivered anything, ever. */
  readonly deliveries: number;
  /** Somebody asks it for messages and gets none, though all that it waits for was delivered more than once. */
  readonly idle: boolean;
  readonly ackWaitMs: number;
}

export interface ConsumerState {
  readonly contract: ConsumerContract;
  /** Null: the consumer does not exist. */
  readonly found: ConsumerFigures | null;
}

export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  header(name: string): string;
}

/** What a stream still holds. `keptSinceUs`: what was stored at or after this time (microseconds) is there; 0: everything is. */
export interface StreamExtent {
  readonly messages: number;
  readonly keptSinceUs: number;
}

/** Messages of the dead can be megabytes each. */
const FETCH_MESSAGES = { large: 8, usual: 500 };
const MESSAGE_NOT_FOUND = 10_037;
const FETCH_MS = 10_000;
const IDLE_MS = 60_000;

/** Reads streams and consumers; leaves nothing behind but a short-lived consumer while it reads. */
export class Broker {
  private constructor(
    private readonly nc: NatsConnection,
    private readonly jsm: JetStreamManager,
    private readonly js: JetStreamClient,
  ) {}

  static async open(url: string): Promise<Broker> {
    const nc = await connectNats({ url, name: 'checker', patient: false });
    return new Broker(nc, await jetstreamManager(nc), jetstream(nc));
  }

  /** Without those of a service that was left out: episodes wait for a repair as long as no model is named. */
  async consumerStates(): Promise<ConsumerState[]> {
    const states = await Promise.all(
      requiredConsumers.map(async (contract): Promise<ConsumerState[]> => {
        const info = await this.jsm.consumers.info(contract.event.stream, contract.durable).catch(() => null);
        if (info === null) return [{ contract, found: null }];
        if (contract.service === 'repair' && info.num_waiting === 0 && info.delivered.consumer_seq === 0) return [];
        const { num_pending: pending, num_ack_pending: held, ack_floor: floor, delivered, config } = info;
        const unacknowledged = held === 0 ? 0 : await this.stillThere(contract, held);
        // Pulls wait, and yet what was redelivered before is not given to them.
        const idle = info.num_waiting > 0 && info.num_redelivered >= held;
        const ackWaitMs = (config.ack_wait ?? 0) / 1_000_000;
        const found = {
          pending,
          unacknowledged,
          ackFloor: floor.stream_seq,
          deliveries: delivered.consumer_seq,
          idle,
          ackWaitMs,
        };
        return [{ contract, found }];
      }),
    );
    return states.flat();
  }

  /**
   * Of the messages that a consumer waits for, those that exist. nats-server 2.9, killed, may wait for ever for the
   * acknowledgement of one that has gone from its work queue.
   */
  private async stillThere({ event }: ConsumerContract, held: number): Promise<number> {
    const queue = streams.some(({ name, kind }) => name === event.stream && kind === 'queue');
    return queue ? Math.min(held, await this.waiting(event.stream, event.pattern)) : held;
  }

  /** How many messages a stream holds under a subject pattern. */
  async waiting(stream: StreamName, pattern: string): Promise<number> {
    const { state } = await this.jsm.streams.info(stream, { subjects_filter: pattern });
    return Object.values(state.subjects ?? {}).reduce((sum, number) => sum + number, 0);
  }

  /** The first messages of a work queue under a subject pattern, one by one: it lets nobody but its consumer read on. */
  async *peek(stream: StreamName, pattern: string, limit: number): AsyncGenerator<StoredMessage> {
    for (let next = 1, seen = 0; seen < limit; seen += 1) {
      // The server takes this since 2.9; the client's type has it for direct gets only.
      const question = { seq: next, next_by_subj: pattern } as MsgRequest;
      const message = await this.jsm.streams.getMessage(stream, question).catch(nothingThere);
      if (message === null) return;
      const { seq, subject, data } = message;
      yield { seq, subject, data, header: (name) => message.header.get(name) };
      next = seq + 1;
    }
  }

  async extent(stream: StreamName): Promise<StreamExtent> {
    const { state } = await this.jsm.streams.info(stream);
    if (state.first_seq <= 1) return { messages: state.messages, keptSinceUs: 0 };
    if (state.messages === 0) return { messages: 0, keptSinceUs: Number.MAX_SAFE_INTEGER };
    return { messages: state.messages, keptSinceUs: new Date(state.first_ts).getTime() * 1000 };
  }

  /** Everything that is stored under a subject pattern now, in order. */
  async *messages(stream: StreamName, pattern: string): AsyncGenerator<StoredMessage> {
    const { name, num_pending: total } = await this.jsm.consumers.add(stream, {
      filter_subject: pattern,
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.All,
      replay_policy: ReplayPolicy.Instant,
      inactive_threshold: nanos(IDLE_MS),
      mem_storage: true,
    });
    try {
      const consumer = await this.js.consumers.get(stream, name);
      for (let seen = 0; seen < total;) {
        const before = seen;
        const page = stream === deadLetter.stream ? FETCH_MESSAGES.large : FETCH_MESSAGES.usual;
        // Never more than there are: the broker would wait for the rest until the request expires.
        for await (const message of await consumer.fetch({ max_messages: Math.min(page, total - seen), expires: FETCH_MS })) {
          yield stored(message);
          seen += 1;
        }
        if (seen === before) throw new Error(`the stream ${stream} gave only ${seen} of ${total} messages`);
      }
    } finally {
      await this.jsm.consumers.delete(stream, name).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.nc.close();
  }
}

function nothingThere(error: unknown): null {
  if (error instanceof JetStreamApiError && error.code === MESSAGE_NOT_FOUND) return null;
  throw error;
}

function stored(message: JsMsg): StoredMessage {
  const { seq, subject, data } = message;
  return { seq, subject, data, header: (name) => message.headers?.get(name) ?? '' };
}
