const LENGTH_MAX = 262_144;
/** A token of a Python literal that JSON has too, or that has an equal in JSON. Sticky: each match begins where the last one ended. */
const TOKEN = /\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(True|False|None)\b|(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([[\]{},:]))/gsy;
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/**
 * A dict or list as Python prints it (`{'city': 'Tokyo', 'now': True}`) as the JSON it stands for; undefined for anything else: another
 * text, other types in it, more than 256 Ki characters. Linear in its length.
 */
export function fromPythonLiteral(text: unknown): unknown {
  if (typeof text !== 'string' || text.length > LENGTH_MAX || !/^\s*[[{]/.test(text)) return undefined;
  const source = text.trimEnd();
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const found = TOKEN.exec(source);
    if (found === null) return undefined;
    tokens.push(toJson(found));
  }
  try {
    return JSON.parse(tokens.join('')) as unknown;
  } catch {
    return undefined;
  }
}

function toJson([, single, double, word, number, mark]: RegExpExecArray): string {
  const quoted = single ?? double;
  if (quoted !== undefined) return JSON.stringify(unescaped(quoted));
  return (word === undefined ? undefined : WORDS[word]) ?? number ?? mark ?? '';
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\', "'": "'", '"': '"' };

function unescaped(text: string): string {
  return text.replace(/\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|.)/gs, (escape) => {
    const code = escape.length > 2 ? Number.parseInt(escape.slice(2), 16) : Number.NaN;
    if (code <= 0x10ffff) return String.fromCodePoint(code);
    return ESCAPES[escape.slice(1)] ?? escape;
  });
}
