import { Controller, Headers, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Notice } from '#contracts';
import type { Caller } from '../access/caller.js';
import { Broker } from '../jetstream/broker.js';
import { Notices } from '../postgres/notices.js';
import { EventStream } from '../streams/event-stream.js';
import { NoticeStreams } from '../streams/notice-streams.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { unavailable } from './problem.js';
import { microsOf } from './query-times.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

@Controller()
export class NoticesController {
  constructor(
    @Inject(Notices) private readonly notices: Notices,
    @Inject(NoticeStreams) private readonly streams: NoticeStreams,
    @Inject(Broker) private readonly broker: Broker,
  ) {}

  @Route(routes.listNotices)
  async list(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listNotices>,
  ): Promise<{ items: Notice[]; next_cursor: string | null }> {
    const { cursor, limit, since, ...rest } = query;
    const notices = await this.notices.list(project, { ...rest, since: microsOf('since', since) }, decodeCursor(cursor), limit);
    return pageOf(notices, limit, ({ posted_at: at, id }) => ({ at, id }));
  }

  @Route(routes.streamNotices)
  async stream(
    @CurrentCaller() caller: Caller,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (!this.broker.isThere)
      throw unavailable('The broker is away, so nothing could be followed; GET /v1/notices has what is stored.');
    reply.hijack();
    await this.streams.open(caller, () => new EventStream(reply.raw), lastEventId);
  }
}
