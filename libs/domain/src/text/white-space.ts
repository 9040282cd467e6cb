// The information separators and NEL are white space to the systems that send us text, though not to JavaScript;
// U+FEFF is the other way round: it is invisible and is removed by `sanitize`.
const WHITE_SPACE = /(?:[^\S\ufeff]|[\x1c-\x1f\x85])+/g;

/** Every run of white space becomes one space; none at the ends. */
export function collapseWhiteSpace(text: string): string {
  return text.replace(WHITE_SPACE, ' ').replace(/^ | $/g, '');
}
