import { z } from 'zod';

/** RFC 9457. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type Problem = z.output<typeof problem>;

export const turnResult = z.object({
  index: z.int(),
  status: z.enum(['accepted', 'rejected']),
  session_id: z.string().nullable(),
  turn_index: z.int().nullable(),
  notes: z.array(z.string()),
  error: problem.optional(),
});
export const turnsResponse = z.object({ accepted: z.int(), rejected: z.int(), results: z.array(turnResult) });
export type TurnsResponse = z.output<typeof turnsResponse>;
export type TurnResult = z.output<typeof turnResult>;

export const page = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), next_cursor: z.string().nullable() });
