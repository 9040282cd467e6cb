import type { ServerResponse } from 'node:http';

/** A reader that is this far behind is cut off; it comes back with Last-Event-ID and reads on from the table. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** After the end of a stream the browser waits this long before it comes back. */
const RETRY_MS = 2_000;

export interface ServerEvent {
  readonly type: string;
  readonly data: string;
  /** What the reader gives as Last-Event-ID when it comes back. */
  readonly id?: string;
}

/** One reader's server-sent events (text/event-stream). */
export class EventStream {
  constructor(private readonly response: ServerResponse) {
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      // Nothing follows on this connection: it ends with the stream, also when the gateway stops.
      connection: 'close',
      // Proxies of the nginx family would hold events back otherwise.
      'x-accel-buffering': 'no',
    });
    response.on('error', () => undefined);
    this.write(`retry: ${RETRY_MS}\n\n`);
  }

  get open(): boolean {
    return this.response.writable;
  }

  onClose(listener: () => void): void {
    this.response.once('close', listener);
  }

  send({ type, data, id }: ServerEvent): void {
    const lines = data.split(/\r\n|\n|\r/).map((line) => `data: ${line}\n`);
    this.write(`event: ${type}\n${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`);
  }

  /** Shows proxies and readers that the silence is no fault. */
  heartbeat(): void {
    this.write(': nothing new\n\n');
  }

  end(): void {
    if (this.open) this.response.end();
  }

  private write(text: string): void {
    if (!this.open) return;
    this.response.write(text);
    if (this.response.writableLength > MAX_WAITING_BYTES) this.response.destroy();
  }
}
