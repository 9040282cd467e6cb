import { z } from 'zod';
import { defineEvent } from './event.js';
import { bodyReference, hostScore, turnEndedInput } from './turn.js';

export const turnEnded = defineEvent({
  type: 'turn.ended',
  stream: 'FM_TURNS',
  summary: 'A session finished a turn. The first accepted body of (project, session, turn) wins, for ever.',
  publishers: ['agents', 'gateway'],
  audience: 'services',
  tail: [],
  schema: z.union([bodyReference, turnEndedInput]),
});

export const sessionEnded = defineEvent({
  type: 'session.ended',
  stream: 'FM_TURNS',
  summary: 'A session will have no further turn.',
  publishers: ['agents', 'gateway'],
  audience: 'services',
  tail: [],
  schema: z.looseObject({ session_id: z.string().min(1).max(255), reason: z.string().max(200).nullish() }),
});

export const scorePosted = defineEvent({
  type: 'score.posted',
  stream: 'FM_TURNS',
  summary: 'A late score or a verifier answer for a turn; it attaches to the turn whenever it comes.',
  publishers: ['verifiers', 'gateway'],
  audience: 'services',
  tail: [],
  schema: z.looseObject({
    session_id: z.string().min(1).max(255),
    turn_index: z.int().min(0),
    scores: z.array(hostScore).min(1).max(50),
  }),
});
