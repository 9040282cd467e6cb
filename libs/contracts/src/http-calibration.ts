import { z } from 'zod';
import { pageQuery } from './http.js';
import { timeInput } from './turn.js';

/** Values of one metric from one source, in trace order: `turns[i]` is the turn of `values[i]`. Only scores that have a value. */
export const storedTrack = z.object({
  metric: z.string(),
  source: z.string(),
  turns: z.array(z.int()),
  values: z.array(z.number()),
});

/** One session with its stored values, of its newest 500 turns (which is what refolds keep). */
export const storedScores = z.object({
  session_id: z.string(),
  /** Microseconds since the epoch. */
  first_at: z.int(),
  last_turn_index: z.int().nullable(),
  /** Turns before the newest 500 are left out. */
  cut: z.boolean(),
  /** What the eval set says of it: `failure` when any of its cases is one, null without a case. */
  eval_case: z.enum(['failure', 'win']).nullable(),
  tracks: z.array(storedTrack),
});
export type StoredScores = z.output<typeof storedScores>;

export const storedScoresQuery = pageQuery.extend({
  metric: z.string().max(64).optional().describe('Only values of this metric.'),
  since: timeInput.optional().describe('Only sessions whose first turn came at this time or later.'),
  until: timeInput.optional().describe('Only sessions whose first turn came before this time.'),
});
