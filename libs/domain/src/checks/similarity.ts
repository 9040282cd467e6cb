/** Only so much of a text is compared: the cost of a turn must not grow with its length. UTF-16 units. */
const COHERENCE_CHARACTERS = 500;
const REPETITION_CHARACTERS = 2000;
const SHINGLE_WORDS = 3;
/** A power of two above twice the most distinct trigrams of 500 characters, so that probing stays short. */
const SLOTS = 2048;

/**
 * Cosine of the character-trigram counts of the first 500 characters of each text, in [0, 1]; 0 when either has none.
 * Texts are lower-cased; everything that is not a letter or digit becomes one blank, also at both ends.
 * Character trigrams stand for stems: "refund" and "refunded" share theirs, in every language.
 */
export function trigramCosine(left: string, right: string): number {
  const a = trigramCounts(normalise(left.slice(0, COHERENCE_CHARACTERS)));
  const b = trigramCounts(normalise(right.slice(0, COHERENCE_CHARACTERS)));
  if (a.squares === 0 || b.squares === 0) return 0;
  let dot = 0;
  a.used.forEach((slot, at) => {
    dot += (a.counts[slot] ?? 0) * (b.counts[find(b.keys, a.keys[slot] ?? 0, a.homes[at] ?? 0)] ?? 0);
  });
  return dot / Math.sqrt(a.squares * b.squares);
}

/**
 * Jaccard overlap of the sets of three-word shingles of the first 2000 characters, in [0, 1]. Texts under three words are
 * one shingle. Near 0 for two different answers on one subject, 1 for the same answer again; a paraphrase is not seen.
 */
export function shingleOverlap(left: string, right: string): number {
  const a = shingles(left);
  const b = shingles(right);
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const shingle of a) if (b.has(shingle)) shared += 1;
  return shared / (a.size + b.size - shared);
}

/** Whether anything is left of a text once only letters and digits count. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

function normalise(text: string): string {
  return ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `.replace(/^ +| +$/g, ' ');
}

function shingles(text: string): Set<string> {
  const words = normalise(text.slice(0, REPETITION_CHARACTERS)).trim().split(' ').filter(Boolean);
  const found = new Set<string>();
  if (words.length > 0 && words.length < SHINGLE_WORDS) found.add(words.join(' '));
  for (let at = 0; at + SHINGLE_WORDS <= words.length; at += 1) found.add(words.slice(at, at + SHINGLE_WORDS).join(' '));
  return found;
}

interface TrigramCounts {
  readonly keys: Float64Array;
  readonly counts: Uint16Array;
  /** Occupied slots, and where the search for each one's key begins. */
  readonly used: readonly number[];
  readonly homes: readonly number[];
  readonly squares: number;
}

/** An open-addressed table instead of a Map: this runs for every turn of the fleet. Keys are exact, so nothing collides. */
function trigramCounts(text: string): TrigramCounts {
  const keys = new Float64Array(SLOTS);
  const counts = new Uint16Array(SLOTS);
  const used: number[] = [];
  const homes: number[] = [];
  let squares = 0;
  for (let at = 0; at + 3 <= text.length; at += 1) {
    const a = text.charCodeAt(at);
    const b = text.charCodeAt(at + 1);
    const c = text.charCodeAt(at + 2);
    const key = (a * 65_536 + b) * 65_536 + c;
    // Mixed from the three characters: taking a 48-bit double apart again is what made this slow.
    const home = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35)) >>> 21;
    const slot = find(keys, key, home);
    const count = counts[slot] ?? 0;
    if (count === 0) {
      keys[slot] = key;
      used.push(slot);
      homes.push(home);
    }
    counts[slot] = count + 1;
    squares += 2 * count + 1;
  }
  return { keys, counts, used, homes, squares };
}

/** The slot that holds the key, or the empty one where it belongs. No trigram has key 0: a normalised text has no NUL. */
function find(keys: Float64Array, key: number, home: number): number {
  let slot = home;
  while (keys[slot] !== 0 && keys[slot] !== key) slot = (slot + 1) & (SLOTS - 1);
  return slot;
}
