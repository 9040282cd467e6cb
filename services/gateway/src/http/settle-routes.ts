import { z } from 'zod';
import { pendingSession, pendingSessionsQuery, sessionIdText, settleAnswer, settleBody } from '#contracts';
import { ok, pageOf } from './answers.js';
import { defineRoute } from './route.js';

/** Routes for hosts that wait until the loop is done with a turn. */
export const settleRoutes = {
  settle: defineRoute({
    id: 'settle',
    method: 'POST',
    path: '/v1/sessions/:id/settle',
    summary:
      'Waits until a turn has its report, its notices are decided, and one repair run of them has ended; or until the time is over. Starts nothing.',
    access: ['ingest', 'observe'],
    params: z.object({ id: sessionIdText }),
    body: { name: 'Settle', schema: settleBody, optional: true },
    answers: [
      ok({ name: 'Settled', schema: settleAnswer }, 'What became of the turn.'),
      { status: 503, description: 'Too many wait already, or the database is away. Asking again is harmless.' },
    ],
  }),
  listPendingSessions: defineRoute({
    id: 'listPendingSessions',
    method: 'GET',
    path: '/v1/pending-sessions',
    summary: 'Sessions in which something is in flight: turns without a report, episodes without an end. Newest first.',
    access: ['observe'],
    query: pendingSessionsQuery,
    answers: [ok(pageOf('PendingSession', pendingSession), 'A page of sessions.')],
  }),
} as const;
