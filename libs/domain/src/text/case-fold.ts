const ASCII_ONLY = /^[\0-\x7f]*$/;
const DOTLESS_I = 'ı';

/**
 * Full Unicode case folding, so that `STRASSE`, `Straße` and `STRAẞE` compare equal.
 * JavaScript has none: per character lower, upper, lower again reaches the same result. The dotless i is left
 * alone because its upper case is the plain `I`. Characters are folded one by one so that a final sigma does not differ.
 */
export function caseFold(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) {
    folded += character === DOTLESS_I ? character : character.toLowerCase().toUpperCase().toLowerCase();
  }
  return folded;
}
