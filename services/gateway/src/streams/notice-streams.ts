import { Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { noticePosted, type Notice } from '#contracts';
import type { Access } from '../access/access.js';
import type { Caller } from '../access/caller.js';
import type { Broker } from '../jetstream/broker.js';
import type { LiveEvent, LiveNotices } from '../jetstream/live-notices.js';
import type { Notices } from '../postgres/notices.js';
import type { EventStream } from './event-stream.js';

const HEARTBEAT_MS = 15_000;
/** A revoked key must not go on reading: looked at twice within the second that is promised. */
const RECHECK_MS = 500;
/** Notices are not stored strictly in the order of their times; so a resumed stream begins a little before. */
const OVERLAP_US = 5_000_000;
/** Ids sent lately, by which a notice that comes from the table and from the broker is sent once. */
const REMEMBERED = 2_000;

const NOTICE_ID = /^n-([0-9a-f]{12})-/;

interface Reader {
  readonly caller: Caller;
  readonly stream: EventStream;
  readonly sent: Set<string>;
  /** Microseconds: what was posted before is known to this reader, or not asked for. */
  newest: number;
  /** Events that came while the table was being read; null when there is nothing to wait for. */
  waiting: LiveEvent[] | null;
}

/** All open notice streams of this process: live events, what was missed, heartbeats, and their end. */
export class NoticeStreams implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('notice streams');
  private readonly readers = new Set<Reader>();
  private readonly timers: NodeJS.Timeout[] = [];
  private closing = false;

  constructor(
    private readonly broker: Broker,
    private readonly live: LiveNotices,
    private readonly notices: Notices,
    private readonly access: Access,
  ) {}

  onModuleInit(): void {
    this.timers.push(setInterval(() => this.readers.forEach(({ stream }) => stream.heartbeat()), HEARTBEAT_MS));
    this.timers.push(setInterval(() => void this.recheck(), RECHECK_MS));
    // What was stored while the broker was away is not republished to us: it is read from the table.
    this.broker.onReturn(() => {
      for (const reader of this.readers) void this.catchUp(reader);
    });
  }

  /** Ends the streams, so that the server can close; readers come back to another gateway, or to this one later. */
  onModuleDestroy(): void {
    this.closing = true;
    this.timers.splice(0).forEach((timer) => clearInterval(timer));
    this.readers.forEach(({ stream }) => stream.end());
  }

  /** `lastEventId`: the last notice that the reader has; without one, or with one that is no notice, it begins with what comes now. */
  async open(caller: Caller, begin: () => EventStream, lastEventId: string | undefined): Promise<void> {
    const resumed = timeOfId(lastEventId);
    const early: LiveEvent[] = [];
    let take = (event: LiveEvent): void => void early.push(event);
    const unfollow = await this.live.follow(caller.project, (event) => take(event));
    // Answered only now: whoever has the headers misses nothing that is published after them.
    const stream = begin();
    const reader: Reader = { caller, stream, sent: new Set(), newest: resumed ?? Date.now() * 1_000, waiting: null };
    take = (event) => this.receive(reader, event);
    stream.onClose(() => {
      this.readers.delete(reader);
      unfollow();
    });
    if (!stream.open) {
      unfollow();
      return;
    }
    this.readers.add(reader);
    if (this.closing) stream.end();
    const caughtUp = resumed === null ? Promise.resolve() : this.catchUp(reader);
    for (const event of early) this.receive(reader, event);
    await caughtUp;
  }

  private receive(reader: Reader, event: LiveEvent): void {
    if (reader.waiting === null) deliver(reader, event);
    else reader.waiting.push(event);
  }

  /** Sends what the table has since the reader's newest notice; what the broker brings meanwhile follows. */
  private async catchUp(reader: Reader): Promise<void> {
    if (reader.waiting !== null) return;
    reader.waiting = [];
    try {
      for (const notice of await this.notices.publishedSince(reader.caller.project, reader.newest - OVERLAP_US))
        deliverNotice(reader, notice);
    } catch (error) {
      // The reader comes back with the same Last-Event-ID, which is better than a gap.
      this.logger.warn(`a notice stream could not be resumed: ${error instanceof Error ? error.message : String(error)}`);
      reader.stream.end();
    }
    const waited = reader.waiting;
    reader.waiting = null;
    for (const event of waited) deliver(reader, event);
  }

  private async recheck(): Promise<void> {
    for (const { caller, stream } of this.readers) {
      const valid = await this.access.stillValid(caller).catch(() => true);
      if (!valid) stream.end();
    }
  }
}

function deliver(reader: Reader, { type, data }: LiveEvent): void {
  if (type === noticePosted.type) deliverNotice(reader, JSON.parse(data) as Notice);
  else reader.stream.send({ type, data });
}

function deliverNotice(reader: Reader, notice: Notice): void {
  if (reader.sent.has(notice.id)) return;
  reader.sent.add(notice.id);
  if (reader.sent.size > REMEMBERED) forgetOldest(reader.sent);
  reader.newest = Math.max(reader.newest, timeOfId(notice.id) ?? 0);
  reader.stream.send({ type: noticePosted.type, id: notice.id, data: JSON.stringify(notice) });
}

function forgetOldest(ids: Set<string>): void {
  const [oldest] = ids;
  if (oldest !== undefined) ids.delete(oldest);
}

/** A notice's id begins with its milliseconds. Microseconds, or null for another id. */
function timeOfId(id: string | undefined): number | null {
  const hex = NOTICE_ID.exec(id ?? '')?.[1];
  return hex === undefined ? null : Number.parseInt(hex, 16) * 1_000;
}
