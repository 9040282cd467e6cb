import { z } from 'zod';
import { unusable } from './sender.js';

const reply = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().nonnegative().optional(), embedding: z.array(z.number()).min(1) })),
});

/** The vectors in the order of their inputs. @throws ModelError `unavailable` when they are not `count` vectors of one length */
export function readEmbeddings(json: Record<string, unknown>, count: number): number[][] {
  const read = reply.safeParse(json);
  const items = read.success ? read.data.data : [];
  const vectors = new Array<number[] | undefined>(count).fill(undefined);
  items.forEach(({ index, embedding }, at) => (vectors[index ?? at] = embedding));
  const whole = vectors.filter((vector) => vector !== undefined);
  const sameLength = new Set(whole.map((vector) => vector.length)).size <= 1;
  if (items.length === count && whole.length === count && vectors.length === count && sameLength) return whole;
  throw unusable(`${items.length} embeddings that do not fit ${count} texts`, 200);
}
