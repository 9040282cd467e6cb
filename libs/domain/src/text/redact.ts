import { REDACTED } from './bounded-json.js';
import { redactText } from './secret-patterns.js';
import { isSensitiveKey } from './sensitive-key.js';

type KeyKind = 'secret' | 'identity' | 'plain';

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
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return redactArray(value, redactSecrets);
  return typeof value === 'object' && value !== null ? redactObject(value) : value;
}

function redactArray(items: readonly unknown[], redact: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const redacted = redact(items[index]);
    if (redacted === items[index]) continue;
    copy ??= items.slice();
    copy[index] = redacted;
  }
  return copy ?? items;
}

function redactObject(object: object): object {
  const source = object as Readonly<Record<string, unknown>>;
  const pair = isSecretPair(source);
  let copy: Map<string, unknown> | undefined;
  for (const key of Object.keys(source)) {
    const value = source[key];
    const redacted = pair && key === 'value' ? REDACTED : redactMember(key, value);
    if (redacted === value) continue;
    // A Map keeps the order of keys and takes `__proto__` for a key like any other.
    copy ??= new Map(Object.entries(source));
    copy.set(key, redacted);
  }
  return copy === undefined ? object : Object.fromEntries(copy);
}

function redactMember(key: string, value: unknown): unknown {
  switch (kindOf(key)) {
    case 'secret':
      return REDACTED;
    case 'identity':
      return redactBelowIdentity(value);
    case 'plain':
      return redactSecrets(value);
  }
}

/** Scalars, and lists of them, are the identity itself. */
function redactBelowIdentity(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? redactArray(value, redactBelowIdentity) : redactObject(value);
}

/** Header lists and form fields name the key in a member: `{name: "Authorization", value: "..."}`. */
function isSecretPair(object: Readonly<Record<string, unknown>>): boolean {
  const name = object['key'] ?? object['name'];
  const value = object['value'];
  return typeof name === 'string' && (typeof value === 'string' || typeof value === 'number') && kindOf(name) === 'secret';
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
  return IDENTITY_KEYS.has(key.replace(/[_-]/g, '').toLowerCase()) ? 'identity' : 'plain';
}
