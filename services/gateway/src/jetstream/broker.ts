import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 2_000;
const LOOK_MS = 50;
const HEADER_ROOM = 16 * 1024;
const KIB = 1024;
/** Beyond this a body is stored beside the event, whatever the broker would take: the stream is for events. */
const MAX_EVENT_BYTES = 512 * KIB;

/**
 * Whether the broker is there. While it is away the client library keeps what is published in memory, without bound, so nothing
 * is given to it then.
 */
export class Broker {
  private connected = true;
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly nc: NatsConnection) {
    void this.watch();
  }

  get isThere(): boolean {
    return this.connected && !this.nc.isClosed();
  }

  /** Waits a moment for a broker that is just restarting. */
  async whenThere(): Promise<boolean> {
    for (const until = Date.now() + WAIT_MS; !this.isThere && Date.now() < until;) await sleep(LOOK_MS);
    return this.isThere;
  }

  /** Bytes that an event may have. */
  get maxEventBytes(): number {
    return Math.min(MAX_EVENT_BYTES, (this.nc.info?.max_payload ?? MAX_EVENT_BYTES) - HEADER_ROOM);
  }

  /** Called each time the connection is back. */
  onReturn(listener: () => void): void {
    this.listeners.push(listener);
  }

  private async watch(): Promise<void> {
    for await (const { type } of this.nc.status()) {
      if (type === 'disconnect') this.connected = false;
      if (type !== 'reconnect') continue;
      this.connected = true;
      for (const listener of this.listeners) listener();
    }
  }
}
