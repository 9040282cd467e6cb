import { z } from 'zod';
import { defineEvent } from './event.js';

/** Health changes travel under this project name, which no real project can have (it begins with `_`). */
export const SYSTEM_PROJECT = '_sys';

export const healthChanged = defineEvent({
  type: 'health',
  stream: 'FM_NOTICES',
  summary: 'A service lost or regained something it needs; said once per change.',
  publishers: ['all services'],
  audience: 'outside',
  tail: ['service'],
  schema: z.object({
    service: z.string(),
    status: z.enum(['ok', 'degraded']),
    dependency: z.string(),
    detail: z.string(),
    at: z.int(),
  }),
});

export const deadLetter = defineEvent({
  type: 'dead',
  stream: 'FM_DEAD',
  summary: 'A message that could never succeed, as it came (cut to fit), with the reason in its headers.',
  publishers: ['the messaging library'],
  audience: 'services',
  tail: ['consumer'],
  schema: z.unknown(),
});

/** Headers of a dead letter. */
export const deadLetterHeaders = {
  reason: 'Fm-Dead-Reason',
  subject: 'Fm-Dead-Subject',
  stream: 'Fm-Dead-Stream',
  sequence: 'Fm-Dead-Sequence',
  deliveries: 'Fm-Dead-Deliveries',
  cut: 'Fm-Dead-Cut-Bytes',
} as const;
