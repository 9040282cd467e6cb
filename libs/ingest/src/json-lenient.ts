import { JsonSyntaxError } from './json-error.js';
import { closingQuote, MAX_DEPTH, tooDeep } from './json-scan.js';

const WHITE_SPACE = /[ \t\r\n]{0,4096}/y;
const NUMBER = /-?(?:0|[1-9]\d{0,4095})(?:\.\d{1,4096})?(?:[eE][+-]?\d{1,32})?/y;
const WORD = /-?[A-Za-z]{1,16}/y;
const RAW_CONTROL = /[\0-\x1f]/g;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const NOT_FINITE: ReadonlySet<string> = new Set(['NaN', '-NaN', 'Infinity', '-Infinity']);

const NOT_FINITE_NOTE = 'NaN and Infinity became null';
const CONTROL_NOTE = 'raw control characters inside strings were accepted';

/**
 * The careful reader behind `parseJson`: integers beyond 2^53 become bigints, NaN and Infinity null, raw control
 * characters in strings are taken, the last of equal keys wins as in JSON.parse. Strings are sliced and unescaped by
 * JSON.parse itself, so that its time and memory stay near those of JSON.parse.
 */
export class LenientReader {
  readonly notes = new Set<string>();
  private at = 0;

  constructor(private readonly text: string) {}

  /** @throws JsonSyntaxError */
  read(): unknown {
    const value = this.value(0);
    if (this.at < this.text.length) throw this.error('the value has ended; send one JSON value only.');
    return value;
  }

  private value(depth: number): unknown {
    if (depth > MAX_DEPTH) throw tooDeep(this.text, this.at);
    this.skipSpace();
    const value = this.bareValue(depth);
    this.skipSpace();
    return value;
  }

  private bareValue(depth: number): unknown {
    switch (this.text[this.at]) {
      case '{':
        return this.object(depth);
      case '[':
        return this.array(depth);
      case '"':
        return this.string();
      case undefined:
        throw this.error('the text ends where a value is expected; it is empty or was cut off, send it whole.');
      default:
        return this.number() ?? this.word();
    }
  }

  private object(depth: number): unknown {
    const members: [string, unknown][] = [];
    this.at += 1;
    this.skipSpace();
    if (this.take('}')) return {};
    do {
      this.skipSpace();
      if (this.text[this.at] !== '"') throw this.error('a key in double quotes is expected (no comma after the last member).');
      const key = this.string();
      this.skipSpace();
      if (!this.take(':')) throw this.error('a colon is expected after the key.');
      members.push([key, this.value(depth + 1)]);
    } while (this.take(','));
    if (!this.take('}')) throw this.error('a comma or } is expected after the member.');
    // fromEntries defines own properties, so a `__proto__` key stays data.
    return Object.fromEntries(members);
  }

  private array(depth: number): unknown {
    const items: unknown[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.take(']')) return items;
    do items.push(this.value(depth + 1));
    while (this.take(','));
    if (!this.take(']')) throw this.error('a comma or ] is expected after the item.');
    return items;
  }

  private string(): string {
    const start = this.at;
    const end = closingQuote(this.text, start + 1) + 1;
    if (end > this.text.length)
      throw this.error('the string that begins here does not end; the text was cut off, send it whole.');
    const raw = this.text.slice(start, end);
    const escaped = raw.replace(RAW_CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
    if (escaped !== raw) this.notes.add(CONTROL_NOTE);
    try {
      const value = JSON.parse(escaped) as string;
      this.at = end;
      return value;
    } catch {
      throw this.error('the string that begins here holds an escape that JSON does not have; write \\\\ for a backslash.');
    }
  }

  private number(): number | bigint | undefined {
    const token = this.match(NUMBER);
    if (token === undefined) return undefined;
    if (/[\d.]/.test(this.text[this.at] ?? ''))
      throw this.error('a number that is not one in JSON, or has over 4096 digits; quote it.');
    const value = Number(token);
    // A bigint only where a number would lose digits.
    return Number.isSafeInteger(value) || /[.eE]/.test(token) ? value : BigInt(token);
  }

  private word(): boolean | null {
    const start = this.at;
    const token = this.match(WORD) ?? '';
    if (NOT_FINITE.has(token)) {
      this.notes.add(NOT_FINITE_NOTE);
      return null;
    }
    const value = WORDS.get(token);
    if (value !== undefined) return value;
    this.at = start;
    throw this.error('a value is expected here (strings and keys take double quotes).');
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.text)) return undefined;
    const token = this.text.slice(this.at, pattern.lastIndex);
    this.at = pattern.lastIndex;
    return token;
  }

  private skipSpace(): void {
    while (this.match(WHITE_SPACE) !== '');
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private error(reason: string): JsonSyntaxError {
    return new JsonSyntaxError(reason, this.text, this.at);
  }
}
