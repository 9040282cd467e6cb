import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { replaySubject } from '../../../contracts/src/replay-queue.js';

type Sent = 'replay.started' | 'replay.finished' | 'replay.turn';

const ANSWER_MS = 5_000;
const PAUSE_MS = 250;

/** Publishes to the streams behind a subject, and asks again while the broker is away or the stream full. */
export class ReplaySender {
  constructor(
    private readonly connection: NatsConnection,
    private readonly project: string,
  ) {}

  /** Resolves when it is stored. @throws Error when it could not be until `until` (milliseconds since the epoch), or never can be */
  async send(event: Sent, payload: object, until: number): Promise<void> {
    const data = JSON.stringify(payload);
    const limit = this.connection.info?.max_payload;
    // A request that is too large would end the connection, and with it everything else that it carries.
    if (limit !== undefined && Buffer.byteLength(data) > limit)
      throw new Error(`${event} is larger than the ${limit} bytes that the broker takes: send fewer or smaller spans`);
    for (;;) {
      const failure = await this.attempt(replaySubject(this.project, event), data);
      if (failure === undefined) return;
      if (Date.now() + PAUSE_MS >= until) throw new Error(`${event} is not stored: ${failure}`);
      await sleep(PAUSE_MS);
    }
  }

  /** Undefined when it is stored, else why not. */
  private async attempt(subject: string, data: string): Promise<string | undefined> {
    try {
      const answer: unknown = (await this.connection.request(subject, data, { timeout: ANSWER_MS })).json();
      const { stream, error } = answer as { stream?: string; error?: { description?: string } };
      return typeof stream === 'string' ? undefined : (error?.description ?? 'the broker did not say where');
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
