/** One piece of material from outside, under the name by which the instructions speak of it. */
export interface Section {
  readonly name: string;
  readonly text: string;
}

export interface Fenced {
  /** The name of the fence's tags: `data-1`, or with the next number that occurs nowhere in the material. */
  readonly fence: string;
  readonly user: string;
}

/**
 * Puts material between tags that it cannot close. The tags carry the smallest number which no section mentions, so the
 * same material always gives the same prompt, and no text can hold the tag that ends it.
 */
export function fenced(sections: readonly Section[]): Fenced {
  const fence = freeFence(sections.map(({ text }) => text));
  const user = sections.map(({ name, text }) => inFence(fence, name, text)).join('\n\n');
  return { fence, user };
}

/** A tag name that none of the texts contains, in whatever case or width its letters are. */
export function freeFence(texts: readonly string[]): string {
  const taken = new Set<string>();
  for (const text of texts) {
    // Compatibility forms (full-width letters, say) read like the plain ones to a model.
    for (const [, number = ''] of text.normalize('NFKC').matchAll(/data\W{0,3}(\d+)/gi)) taken.add(number);
  }
  let free = 1;
  while (taken.has(String(free))) free += 1;
  return `data-${free}`;
}

export function inFence(fence: string, name: string, text: string): string {
  return `<${fence} name="${name}">\n${text === '' ? '(not recorded)' : text}\n</${fence}>`;
}
