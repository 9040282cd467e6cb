import { z } from 'zod';

/** One bad field: where it is (`1.traces.0.started_at`), and what is wrong with it and what to do. */
export const fieldProblem = z.object({ path: z.string(), message: z.string() });

/** RFC 9457, as application/problem+json. `type` names the kind of problem and stays the same in later versions. */
export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  errors: z.array(fieldProblem).optional(),
});
export type Problem = z.output<typeof problem>;

export const turnResult = z.object({
  /** The item's place in the request, from 0. */
  index: z.int(),
  status: z.enum(['accepted', 'rejected']),
  session_id: z.string().nullable(),
  turn_index: z.int().nullable(),
  /** What had to be changed to store it (NUL characters, NaN, a cut). */
  notes: z.array(z.string()),
  error: problem.optional(),
});
/** `accepted` means stored. A 422 or 503 has the same members beside those of its problem. */
export const turnsResponse = z.object({ accepted: z.int(), rejected: z.int(), results: z.array(turnResult) });
export type TurnsResponse = z.output<typeof turnsResponse>;
export type TurnResult = z.output<typeof turnResult>;

/** `next_cursor` is given back as `?cursor=` for the next page; null on the last one. */
export const page = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() });

export const MAX_PAGE = 200;
const DEFAULT_PAGE = 50;

/** Query members of every list. Numbers of a query come as text. */
export const pageQuery = z.strictObject({
  cursor: z.string().max(1_024).optional().describe('`next_cursor` of the page before.'),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
});

/** A session's own id in a path or query. */
export const sessionIdText = z.string().min(1).max(255);

export const sessionEndRequest = z.looseObject({ reason: z.string().max(200).nullish() });
export const sessionEndResponse = z.object({ session_id: z.string(), notes: z.array(z.string()) });

export const readiness = z.object({
  status: z.enum(['ready', 'degraded', 'unavailable']),
  /** What is missing, by dependency, and what to do about it; with these the gateway answers 503. */
  missing: z.record(z.string(), z.string()),
  /** What does not work as it should, of this or another service; the loop goes on. */
  degraded: z.record(z.string(), z.string()),
});
export type Readiness = z.output<typeof readiness>;
