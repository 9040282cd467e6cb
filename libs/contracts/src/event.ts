import type { z } from 'zod';
import type { StreamName } from './streams.js';

/** Every subject begins with this token; `live.` in front of it is what the broker republishes. */
export const SUBJECT_ROOT = 'fm';

/**
 * One kind of event, declared once. `subject(project, ...tail)` is where one is published, `pattern` matches all of them.
 * `audience: 'outside'` adds CloudEvents headers: somebody who is not one of our services reads it.
 */
export interface EventContract<Schema extends z.ZodType = z.ZodType, Tail extends readonly string[] = readonly string[]> {
  readonly type: string;
  readonly stream: StreamName;
  /** Where an earlier version stored it: `migrate` moves what is still there. */
  readonly formerStream?: StreamName;
  readonly summary: string;
  readonly publishers: readonly string[];
  readonly audience: 'services' | 'outside';
  readonly tail: Tail;
  readonly schema: Schema;
  readonly pattern: string;
  subject(project: string, ...tail: { [K in keyof Tail]: string }): string;
}

export type PayloadOf<C extends { schema: z.ZodType }> = z.output<C['schema']>;

type Declaration<Schema extends z.ZodType, Tail extends readonly string[]> = Omit<
  EventContract<Schema, Tail>,
  'pattern' | 'subject'
>;

export function defineEvent<Schema extends z.ZodType, const Tail extends readonly string[]>(
  declaration: Declaration<Schema, Tail>,
): EventContract<Schema, Tail> {
  const { type, tail } = declaration;
  return {
    ...declaration,
    pattern: [SUBJECT_ROOT, '*', type, ...tail.map(() => '*')].join('.'),
    subject: (project, ...values) => [SUBJECT_ROOT, project, type, ...values].join('.'),
  };
}

/** The project of a subject `fm.<project>.…`, or undefined when it is not one of ours. */
export function projectOfSubject(subject: string): string | undefined {
  const [root, project] = subject.split('.', 2);
  return root === SUBJECT_ROOT ? project : undefined;
}
