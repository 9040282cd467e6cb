import { Controller, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { PendingSession, SettleAnswer } from '#contracts';
import type { Caller } from '../access/caller.js';
import { PendingSessions } from '../postgres/pending-sessions.js';
import { SettleRequests } from '../settle/settle-requests.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { Input, Route, type InputOf } from './route.js';
import { settleRoutes as routes } from './settle-routes.js';

@Controller()
export class SettleController {
  constructor(
    @Inject(SettleRequests) private readonly requests: SettleRequests,
    @Inject(PendingSessions) private readonly pending: PendingSessions,
  ) {}

  @Route(routes.settle)
  settle(
    @CurrentCaller() { project }: Caller,
    @Input() { params, body }: InputOf<typeof routes.settle>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SettleAnswer> {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return this.requests.settle(project, { session_id: params.id, ...body }, gone.signal);
  }

  @Route(routes.listPendingSessions)
  async list(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listPendingSessions>,
  ): Promise<{ items: PendingSession[]; next_cursor: string | null }> {
    const { cursor, limit, session } = query;
    const rows = await this.pending.list(project, session, decodeCursor(cursor), limit);
    const { items, next_cursor } = pageOf(rows, limit, ({ since: at, s: id }) => ({ at, id }));
    return { items: items.map(({ s: _, ...item }) => item), next_cursor };
  }
}
