/**
 * Which of many numbered word sets hold a word, and how many words of a query each holds. Numbers and typed counts, since
 * every search and every proposal goes over all rules that share any word with it.
 */
export class WordIndex {
  readonly #slotsByWord = new Map<string, number[]>();

  add(slot: number, words: Iterable<string>): void {
    for (const word of words) {
      const slots = this.#slotsByWord.get(word);
      if (slots === undefined) this.#slotsByWord.set(word, [slot]);
      else slots.push(slot);
    }
  }

  remove(slot: number, words: Iterable<string>): void {
    for (const word of words) {
      const slots = this.#slotsByWord.get(word) ?? [];
      const at = slots.indexOf(slot);
      if (at !== -1) slots.splice(at, 1);
      if (slots.length === 0) this.#slotsByWord.delete(word);
    }
  }

  slotsOf(word: string): readonly number[] {
    return this.#slotsByWord.get(word) ?? [];
  }

  /** Adds `weight` to the count of a set for every word that it holds. */
  count(words: Iterable<string>, weight: number, counts: Uint32Array): void {
    for (const word of words) {
      for (const slot of this.#slotsByWord.get(word) ?? []) counts[slot] = (counts[slot] ?? 0) + weight;
    }
  }
}

/** Values by small numbers that are used again, so that counts about them fit into one array. */
export class Slots<T> {
  readonly #values: (T | undefined)[] = [];
  readonly #free: number[] = [];
  #counts = new Uint32Array(64);

  put(value: T): number {
    const slot = this.#free.pop() ?? this.#values.length;
    this.#values[slot] = value;
    return slot;
  }

  get(slot: number): T | undefined {
    return this.#values[slot];
  }

  free(slot: number): void {
    this.#values[slot] = undefined;
    this.#free.push(slot);
  }

  /** A zero for every slot; the same array every time, to be used at once. */
  counts(): Uint32Array {
    if (this.#counts.length < this.#values.length) this.#counts = new Uint32Array(this.#values.length * 2);
    else this.#counts.fill(0);
    return this.#counts;
  }
}
