import { REDACTED } from './bounded-json.js';
import { embeddedSecret, type Replacement } from './embedded-json.js';

// Not inside a longer word; written behind the prefix, so that the search can still look for the prefix itself.
// It also keeps the search linear: a run of token characters is entered once.
const alone = (prefix: string): string => `${prefix}(?<![\\w-]${prefix})`;
// Random keys hold a digit, kebab-case prose ("sk-learn-classifier-model") does not.
const WITH_DIGIT = String.raw`(?=[A-Za-z_-]{0,48}\d)`;
const BEARER_TOKEN = String.raw`[A-Za-z0-9._~+/=-]`;
const SEPARATORS = `[^A-Za-z0-9"'\\\\]{0,3}`;
const ENDINGS_OF_SENSITIVE_KEYS = ['key', 'ion', 'ial', 'ord', 'ret', 'ken'].map((ending) =>
  Array.from(ending, (letter) => `[${letter}${letter.toUpperCase()}]`).join(SEPARATORS),
);

/**
 * The well-known formats, by what they begin with. Every repetition is bounded, because an unbounded one over
 * megabytes overflows the stack of the regular expression engine; `tokenEnd` takes what is longer. There is no
 * pattern of digits alone, on purpose: those are ids.
 */
const FORMATS: readonly string[] = [
  String.raw`(?:[Bb]earer|BEARER)\s{1,4}(?:(?=[A-Za-z._~+/=-]{0,48}\d)${BEARER_TOKEN}{8,512}|${BEARER_TOKEN}{20,512})`,
  String.raw`${alone('sk-')}${WITH_DIGIT}[\w-]{16,512}`, // OpenAI, Anthropic
  String.raw`${alone('[sr]k_(?:live|test)_')}[A-Za-z0-9]{16,512}`, // Stripe
  String.raw`${alone('A(?:KIA|SIA)')}[0-9A-Z]{16}(?![0-9A-Za-z])`, // AWS
  String.raw`${alone('gh[pousr]_')}[A-Za-z0-9]{20,512}`, // GitHub
  String.raw`${alone('github_pat_')}\w{20,512}`,
  String.raw`${alone('xox[a-z]-')}${WITH_DIGIT}[A-Za-z0-9-]{10,512}`, // Slack
  String.raw`${alone('eyJ')}[\w-]{8,4096}\.[\w-]{4,16384}\.[\w-]{0,1024}`, // JWT
  String.raw`${alone('AIza')}[\w-]{35}`, // Google
  String.raw`${alone('fm_')}(?=[A-Za-z0-9-]{1,64}_)${WITH_DIGIT}[\w-]{18,512}`, // our own: fm_<project>_<random>
  String.raw`-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----`,
  String.raw`:\/\/[^\s/:@"'<>\\?#]{0,256}:[^\s/"'<>\\?#]{1,256}@`, // scheme://user:password@
  String.raw`(?:${ENDINGS_OF_SENSITIVE_KEYS.join('|')})${SEPARATORS}\\{0,15}["'](?=\s{0,8}:)`, // the end of a key in JSON text
];

const CANDIDATE = new RegExp(FORMATS.join('|'), 'g');
const MORE_TOKEN = /[\w-]{1,1024}/y;
/** No private key is longer; a text that only mentions the header loses no more than this. */
const PEM_MAX = 20_000;

/** Replaces the secrets in one text; the text itself when there are none. */
export function redactText(text: string): string {
  CANDIDATE.lastIndex = 0;
  let redacted = '';
  let done = 0;
  for (let match = CANDIDATE.exec(text); match !== null; match = CANDIDATE.exec(text)) {
    const found = replacementFor(text, match[0], match.index);
    if (found === undefined) continue;
    redacted += text.slice(done, found.start) + found.text;
    done = found.end;
    CANDIDATE.lastIndex = done;
  }
  return done === 0 ? text : redacted + text.slice(done);
}

function replacementFor(text: string, match: string, index: number): Replacement | undefined {
  const end = index + match.length;
  if (match.endsWith('"') || match.endsWith("'")) return embeddedSecret(text, end - 1);
  if (match.startsWith('-----')) return { start: index, end: pemEnd(text, end), text: REDACTED };
  if (match.startsWith('://')) return { start: index + match.indexOf(':', 3) + 1, end: end - 1, text: REDACTED };
  const bearer = /^bearer\s+/i.exec(match)?.[0].length ?? 0;
  return { start: index + bearer, end: tokenEnd(text, end), text: REDACTED };
}

function tokenEnd(text: string, from: number): number {
  let end = from;
  MORE_TOKEN.lastIndex = end;
  while (MORE_TOKEN.test(text)) end = MORE_TOKEN.lastIndex;
  return end;
}

/** The end of the key block; of a block that was cut off, everything that can still be key material. */
function pemEnd(text: string, from: number): number {
  const block = text.slice(from, from + PEM_MAX);
  const footer = /-----END [A-Z ]{0,30}PRIVATE KEY-----/.exec(block);
  if (footer !== null) return from + footer.index + footer[0].length;
  return from + (/^[A-Za-z0-9+/=\s\\:,-]*/.exec(block)?.[0].length ?? 0);
}
