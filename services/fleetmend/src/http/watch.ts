import { setTimeout as sleep } from 'node:timers/promises';
import type { Notice } from '#contracts';
import { CommandError, exitCodes } from '../exit-codes.js';
import { formatOf, type Format, type FormatOption } from '../output/answer.js';
import { when } from '../output/table.js';
import { say, writeOut } from '../output/write.js';
import { sanitize } from '#domain/text';
import { openGateway, type Gateway, type GatewayOptions } from './gateway.js';
import { serverEvents, type ServerEvent } from './server-events.js';

export interface WatchOptions extends GatewayOptions, FormatOption {
  readonly count?: number;
  readonly lastEventId?: string;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/** Prints events as they come, for as long as it runs; after an interruption it goes on where it was. */
export async function watchNotices(options: WatchOptions): Promise<void> {
  const follower = new Follower(await openGateway(options), formatOf(options), options);
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const before = follower.received;
    try {
      await follower.follow();
    } catch (error) {
      // What was never reached is said at once; what was lost comes back.
      if (!follower.connected || !(error instanceof CommandError) || error.exitCode !== exitCodes.unreachable) throw error;
    }
    if (follower.done) return;
    if (follower.received > before) pauseMs = FIRST_PAUSE_MS;
    say(`the stream ended; reconnecting in ${pauseMs / 1000} s`);
    await sleep(pauseMs);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
  }
}

class Follower {
  connected = false;
  received = 0;
  private lastId: string | undefined;
  /** The last seconds come again after a reconnection. */
  private readonly seen = new Set<string>();

  constructor(
    private readonly gateway: Gateway,
    private readonly format: Format,
    private readonly options: WatchOptions,
  ) {
    this.lastId = options.lastEventId;
  }

  get done(): boolean {
    return this.options.count !== undefined && this.received >= this.options.count;
  }

  async follow(): Promise<void> {
    const headers = {
      accept: 'text/event-stream',
      ...(this.lastId === undefined ? {} : { 'last-event-id': this.lastId }),
    };
    const source = await this.gateway.open('/v1/notices/stream', headers);
    if (!this.connected) say(`watching ${this.gateway.address.url}; end with Ctrl-C`);
    this.connected = true;
    try {
      for await (const event of serverEvents(source)) {
        await this.show(event);
        if (this.done) return;
      }
    } catch (error) {
      throw new CommandError(exitCodes.unreachable, 'the stream broke off', { cause: error });
    }
  }

  private async show(event: ServerEvent): Promise<void> {
    if (event.id !== undefined) {
      this.lastId = event.id;
      if (this.seen.has(event.id)) return;
      this.seen.add(event.id);
    }
    this.received += 1;
    await writeOut(`${this.format === 'json' ? jsonLine(event) : prettyLine(event)}\n`);
  }
}

function jsonLine({ type, data }: ServerEvent): string {
  return JSON.stringify({ event: type, data: JSON.parse(data) as unknown });
}

function prettyLine({ type, data }: ServerEvent): string {
  const {
    posted_at: at,
    severity,
    session_id: session,
    turn_index: turn,
    signatures,
    summary,
  } = JSON.parse(data) as Partial<Notice>;
  const place = session === undefined ? '' : `${session} turn ${turn ?? '?'}`;
  const parts = [at === undefined ? '' : when(at), severity ?? type, place, signatures?.join(', ') ?? '', summary ?? ''];
  return sanitize(parts.filter((part) => part !== '').join('  ')).replace(/\s*\n\s*/g, ' ');
}
