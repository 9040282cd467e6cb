/** Number of code points: an emoji counts once, as it does for every length in the design. */
export function codePointLength(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index += unitsAt(text, index)) length += 1;
  return length;
}

/** The first `count` code points of `text`; never half of a surrogate pair. The text itself when it is not longer. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let index = 0;
  for (let taken = 0; taken < count && index < text.length; taken += 1) index += unitsAt(text, index);
  return text.slice(0, index);
}

function unitsAt(text: string, index: number): 1 | 2 {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}
