import { REDACTED } from './bounded-json.js';
import { redactText, SPAN_SECRETS, TURN_SECRETS, type SecretRules } from './secret-patterns.js';
import { isSensitiveAttribute, isSensitiveKey } from './sensitive-key.js';

/** `attribute`: a secret in a span, not in a turn. */
type KeyKind = 'secret' | 'attribute' | 'identity' | 'plain';

/**
 * Keys whose values say which thing this is or when it was, in snake or camel case. They are never touched: a pattern
 * that matched ids once merged 640 sessions into 200.
 */
const IDENTITY_KEYS: ReadonlySet<string> = new Set(
  `id ids sessionid turnindex traceid traceids spanid parentspanid parentid eventid callid toolcallid toolcallids runid
   replayid caseid ruleid noticeid episodeid incidentid rulesread messageid threadid conversationid responseid requestid
   startedat endedat createdat updatedat finishedat starttime endtime starttimeunixnano endtimeunixnano timestamp time ts`
    .split(/\s+/)
    .filter((key) => key !== ''),
);

/** Keys repeat from turn to turn, so what was found out about one is remembered, within a bound. */
const knownKeys = new Map<string, KeyKind>();
const KNOWN_KEYS_MAX = 4096;
const KNOWN_KEY_LENGTH = 64;

/**
 * Removes secrets from a JSON value in one pass, before it is stored: the values of sensitive keys (also of
 * `{key|name: "password", value: ...}` pairs, and in JSON that is itself inside a string) and well-known secret
 * formats in strings become `[redacted]`. Identity keys keep their values whatever those look like; an object below
 * one is still searched. The same object comes back when nothing was found. Idempotent.
 * Expects nesting of a few hundred levels at most (`parseJson` refuses more).
 */
export function redactSecrets(value: unknown): unknown {
  return redact(value, TURN_SECRETS);
}

/**
 * The same for a span, which records more of a program than a turn does: also cookies, keys of clouds, passwords on command lines
 * and in queries, and pairs whose name and value are attributes of their own (`llm.headers.0.name`, `llm.headers.0.value`).
 */
export function redactSpan(value: unknown): unknown {
  return redact(value, SPAN_SECRETS);
}

function redact(value: unknown, rules: SecretRules): unknown {
  if (typeof value === 'string') return redactText(value, rules);
  if (Array.isArray(value)) return redactArray(value, rules, redact);
  return typeof value === 'object' && value !== null ? redactObject(value, rules) : value;
}

type Redact = (value: unknown, rules: SecretRules) => unknown;

function redactArray(items: readonly unknown[], rules: SecretRules, redactItem: Redact): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const redacted = isOptionValue(items[index - 1], item, rules) ? REDACTED : redactItem(item, rules);
    if (redacted === item) continue;
    copy ??= items.slice();
    copy[index] = redacted;
  }
  return copy ?? items;
}

/** Arguments of a command, one by one: `['--password', 'hunter2']`. */
function isOptionValue(option: unknown, value: unknown, rules: SecretRules): boolean {
  if (rules !== SPAN_SECRETS || typeof option !== 'string' || typeof value !== 'string') return false;
  return option.length <= KNOWN_KEY_LENGTH && /^--[\w-]+$/.test(option) && !value.startsWith('-') && isSecret(option, rules);
}

function redactObject(object: object, rules: SecretRules): object {
  const source = object as Readonly<Record<string, unknown>>;
  const pair = isSecretPair(source, rules);
  let copy: Map<string, unknown> | undefined;
  for (const key of Object.keys(source)) {
    const value = source[key];
    const isPaired = (pair && key === 'value') || isPairOfAttributes(source, key, rules);
    const redacted = isPaired ? REDACTED : redactMember(key, value, rules);
    if (redacted === value) continue;
    // A Map keeps the order of keys and takes `__proto__` for a key like any other.
    copy ??= new Map(Object.entries(source));
    copy.set(key, redacted);
  }
  return copy === undefined ? object : Object.fromEntries(copy);
}

function redactMember(key: string, value: unknown, rules: SecretRules): unknown {
  switch (kindOf(key)) {
    case 'secret':
      return REDACTED;
    case 'attribute':
      // An object may be the schema of a member of this name; what is secret in it is found by its own names.
      return rules === SPAN_SECRETS && isWords(value) ? REDACTED : redact(value, rules);
    case 'identity':
      return redactBelowIdentity(value, rules);
    case 'plain':
      return redact(value, rules);
  }
}

function isWords(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || Array.isArray(value);
}

/** Scalars, and lists of them, are the identity itself. */
function redactBelowIdentity(value: unknown, rules: SecretRules): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? redactArray(value, rules, redactBelowIdentity) : redactObject(value, rules);
}

/** Header lists and form fields name the key in a member: `{name: "Authorization", value: "..."}`. */
function isSecretPair(object: Readonly<Record<string, unknown>>, rules: SecretRules): boolean {
  const name = object['key'] ?? object['name'];
  const value = object['value'];
  return typeof name === 'string' && (typeof value === 'string' || typeof value === 'number') && isSecret(name, rules);
}

/** The same as numbered attributes: `headers.0.name`, `headers.0.value`. */
function isPairOfAttributes(source: Readonly<Record<string, unknown>>, key: string, rules: SecretRules): boolean {
  if (rules !== SPAN_SECRETS || !key.endsWith('.value')) return false;
  const prefix = key.slice(0, -'value'.length);
  const name = source[`${prefix}key`] ?? source[`${prefix}name`];
  return typeof name === 'string' && isWords(source[key]) && isSecret(name, rules);
}

function isSecret(key: string, rules: SecretRules): boolean {
  const kind = kindOf(key);
  return kind === 'secret' || (kind === 'attribute' && rules === SPAN_SECRETS);
}

function kindOf(key: string): KeyKind {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const kind = classify(key);
  if (key.length <= KNOWN_KEY_LENGTH) {
    if (knownKeys.size >= KNOWN_KEYS_MAX) knownKeys.clear();
    knownKeys.set(key, kind);
  }
  return kind;
}

function classify(key: string): KeyKind {
  if (isSensitiveKey(key)) return 'secret';
  if (isSensitiveAttribute(key)) return 'attribute';
  return IDENTITY_KEYS.has(key.replace(/[_-]/g, '').toLowerCase()) ? 'identity' : 'plain';
}
