import { REDACTED } from './bounded-json.js';
import { embeddedSecret, type Replacement } from './embedded-json.js';
import { isSensitiveAttribute, isSensitiveKey } from './sensitive-key.js';

// Not inside a longer word; written behind the prefix, so that the search can still look for the prefix itself.
// It also keeps the search linear: a run of token characters is entered once.
const alone = (prefix: string): string => `${prefix}(?<![\\w-]${prefix})`;
// Random keys hold a digit, kebab-case prose ("sk-learn-classifier-model") does not.
const WITH_DIGIT = String.raw`(?=[A-Za-z_-]{0,48}\d)`;
const BEARER_TOKEN = String.raw`[A-Za-z0-9._~+/=-]`;
const SEPARATORS = `[^A-Za-z0-9"'\\\\]{0,3}`;
/** The end of a key in JSON text, by the last letters of the keys that are looked for. */
const keyEnding = (...endings: string[]): string => {
  const letters = endings.map((ending) => Array.from(ending, (one) => `[${one}${one.toUpperCase()}]`).join(SEPARATORS));
  return String.raw`(?:${letters.join('|')})${SEPARATORS}\\{0,15}["'](?=\s{0,8}:)`;
};

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
  keyEnding('key', 'ion', 'ial', 'ord', 'ret', 'ken'),
];

/** What spans record of programs beside that: command lines, requests and their headers. */
const SPAN_FORMATS: readonly string[] = [
  String.raw`(?:[Bb]asic|BASIC)\s{1,4}(?=[A-Za-z0-9+/]{4})`,
  String.raw`--(?<![\w-]--)\w[\w-]{0,63}(?=[=\s])`, // an option of a command
  String.raw`[?&;](?=[\w.-]{1,64}=)`, // a parameter of a query or a form
  keyEnding('kie', 'swd', 'pwd'),
];

/** What is looked for, and which keys name a secret. */
export interface SecretRules {
  readonly candidate: RegExp;
  readonly isSensitive: (key: string) => boolean;
}
export const TURN_SECRETS: SecretRules = { candidate: new RegExp(FORMATS.join('|'), 'g'), isSensitive: isSensitiveKey };
export const SPAN_SECRETS: SecretRules = {
  candidate: new RegExp([...FORMATS, ...SPAN_FORMATS].join('|'), 'g'),
  isSensitive: isSensitiveAttribute,
};

const MORE_TOKEN = /[\w-]{1,1024}/y;
/** No private key is longer; a text that only mentions the header loses no more than this. */
const PEM_MAX = 20_000;

/** Replaces the secrets in one text; the text itself when there are none. */
export function redactText(text: string, rules: SecretRules = TURN_SECRETS): string {
  const { candidate } = rules;
  candidate.lastIndex = 0;
  let redacted = '';
  let done = 0;
  for (let match = candidate.exec(text); match !== null; match = candidate.exec(text)) {
    const found = replacementFor(text, match[0], match.index, rules);
    if (found === undefined) continue;
    redacted += text.slice(done, found.start) + found.text;
    done = found.end;
    candidate.lastIndex = done;
  }
  return done === 0 ? text : redacted + text.slice(done);
}

function replacementFor(text: string, match: string, index: number, { isSensitive }: SecretRules): Replacement | undefined {
  const end = index + match.length;
  if (match.endsWith('"') || match.endsWith("'")) return embeddedSecret(text, end - 1, isSensitive);
  if (match.startsWith('-----')) return { start: index, end: pemEnd(text, end), text: REDACTED };
  if (match.startsWith('--')) return isSensitive(match) ? optionValue(text, end) : undefined;
  if (match.length === 1) return parameterValue(text, end, isSensitive);
  if (match.startsWith('://')) return { start: index + match.indexOf(':', 3) + 1, end: end - 1, text: REDACTED };
  if (/^basic\s/i.test(match)) return userAndPassword(text, end);
  const bearer = /^bearer\s+/i.exec(match)?.[0].length ?? 0;
  return { start: index + bearer, end: tokenEnd(text, end), text: REDACTED };
}

const BASE64 = /[A-Za-z0-9+/]{4,4096}={0,2}/y;

/** Prose can say "basic understanding"; only `user:password` in base64 is a secret. */
function userAndPassword(text: string, start: number): Replacement | undefined {
  BASE64.lastIndex = start;
  const token = BASE64.exec(text)?.[0] ?? '';
  if (!/^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(token, 'base64').toString('latin1'))) return undefined;
  return { start, end: start + token.length, text: REDACTED };
}

/** What stands between an option and its value. Another option is no value. */
const OPTION_GAP = /(?:=|\s{1,4})(?:\\{0,15}["'])?(?![\s"'\\-])/y;
const PARAMETER_NAME = /[\w.-]{1,64}/y;

/** In quotes to the closing one, else to the next blank. */
function optionValue(text: string, from: number): Replacement | undefined {
  OPTION_GAP.lastIndex = from;
  const gap = OPTION_GAP.exec(text)?.[0];
  if (gap === undefined) return undefined;
  return valueTo(/["']$/.test(gap) ? /["'\\]/g : /[\s"'\\]/g, text, from + gap.length);
}

function parameterValue(text: string, from: number, isSensitive: SecretRules['isSensitive']): Replacement | undefined {
  PARAMETER_NAME.lastIndex = from;
  const name = PARAMETER_NAME.exec(text)?.[0] ?? '';
  return isSensitive(name) ? valueTo(/[&;#\s"'<>\\]/g, text, from + name.length + 1) : undefined;
}

/** From `start` to before what ends a value; to the end of the text when it was cut off, because half a secret is one too. */
function valueTo(stop: RegExp, text: string, start: number): Replacement | undefined {
  stop.lastIndex = start;
  const end = stop.exec(text)?.index ?? text.length;
  return end === start ? undefined : { start, end, text: REDACTED };
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
