import { createHash, randomBytes } from 'node:crypto';

const RANDOM_BYTES = 32;

/** A new key's text, `fm_<project>_<random>`: 256 random bits, so that a plain hash of it is enough to store. */
export function newKeyText(project: string): string {
  return `fm_${project}_${randomBytes(RANDOM_BYTES).toString('base64url')}`;
}

/** SHA-256, hex. */
export function keyHash(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}
