import { createHash } from 'node:crypto';

/**
 * A number in [0, 1) that depends on its parts alone. No stream of numbers: sessions that run at the same time do not change each
 * other's draws, and a session draws the same whatever it has read.
 */
export function draw(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(parts.join('|')).digest().readUInt32BE(0) / 2 ** 32;
}
