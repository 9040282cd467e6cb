import { createHash } from 'node:crypto';

const WORDS_EACH = 14;

/** Texts that say different things: their words are drawn from so many that no two share half of them. The same every time. */
export function distinctTexts(count: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const hash = createHash('sha512').update(`rule ${n}`).digest('hex');
    const words = Array.from({ length: WORDS_EACH }, (_, at) => `w${hash.slice(at * 3, at * 3 + 3)}`);
    return `Always check ${words.join(' ')} first.`;
  });
}
