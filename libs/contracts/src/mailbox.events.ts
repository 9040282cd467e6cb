import { z } from 'zod';
import { defineEvent } from './event.js';
import { reportScore, severities } from './gating.events.js';
import { scopeHint } from './turn.js';

export const noticeStatuses = ['pending', 'acknowledged', 'corrected', 'suppressed', 'shadow'] as const;
export type NoticeStatus = (typeof noticeStatuses)[number];

export const notice = z.object({
  id: z.string(),
  session_id: z.string(),
  turn_index: z.int().min(0),
  severity: z.enum(severities),
  status: z.enum(noticeStatuses),
  signatures: z.array(z.string()),
  summary: z.string(),
  /** The alerting scores: value, threshold, reason, conditions, trace and tier of each. */
  metrics: z.array(
    reportScore.pick({
      metric: true,
      tier: true,
      trace_id: true,
      value: true,
      threshold: true,
      reason: true,
      code: true,
      conditions: true,
    }),
  ),
  flagged_traces: z.array(z.string()),
  scope_hints: z.array(scopeHint),
  recommended_scope: z.string().nullable(),
  incident_id: z.string().nullable(),
  episode_id: z.string().nullable(),
  posted_at: z.int(),
  resolution: z.object({ kind: z.string(), rule_id: z.string().nullable(), note: z.string().nullable(), at: z.int() }).nullable(),
});
export type Notice = z.output<typeof notice>;

export const noticePosted = defineEvent({
  type: 'notice.posted',
  stream: 'FM_NOTICES',
  summary: 'A problem was found in a session; said once.',
  publishers: ['mailbox'],
  audience: 'outside',
  tail: ['severity', 'session'],
  schema: notice,
});

export const noticeResolved = defineEvent({
  type: 'notice.resolved',
  stream: 'FM_NOTICES',
  summary: 'Notices came to an end: acknowledged by a repair, or corrected by later evidence.',
  publishers: ['repair', 'mailbox'],
  audience: 'outside',
  tail: ['kind', 'session'],
  schema: z.object({
    session_id: z.string(),
    turn_index: z.int().min(0),
    notice_ids: z.array(z.string()),
    kind: z.string(),
    rule_id: z.string().nullable(),
    note: z.string().nullable(),
  }),
});

export const sessionRecovered = defineEvent({
  type: 'session.recovered',
  stream: 'FM_NOTICES',
  summary: 'A session that was alerting is not any more.',
  publishers: ['mailbox'],
  audience: 'outside',
  tail: ['session'],
  schema: z.object({ session_id: z.string(), turn_index: z.int().min(0), signatures: z.array(z.string()) }),
});

const breakerState = z.object({ counted: z.int(), window_s: z.number(), max_notices: z.int(), reason: z.string() });

export const breakerOpened = defineEvent({
  type: 'breaker.opened',
  stream: 'FM_NOTICES',
  summary: 'Too many new problems in the window: one `needs_human` notice was posted, further ones are suppressed.',
  publishers: ['mailbox'],
  audience: 'outside',
  tail: [],
  schema: breakerState,
});

export const breakerClosed = defineEvent({
  type: 'breaker.closed',
  stream: 'FM_NOTICES',
  summary: 'Notices are posted again.',
  publishers: ['mailbox'],
  audience: 'outside',
  tail: [],
  schema: breakerState,
});

export const episodeOpened = defineEvent({
  type: 'episode.opened',
  stream: 'FM_EPISODES',
  summary: 'A group of notices waits for a repair worker. The event wakes; the row decides.',
  publishers: ['mailbox'],
  audience: 'services',
  tail: [],
  schema: z.object({
    episode_id: z.string(),
    notice_ids: z.array(z.string()),
    session_id: z.string(),
    turn_index: z.int().min(0),
    incident_id: z.string().nullable(),
    attempt: z.int().min(1),
  }),
});
