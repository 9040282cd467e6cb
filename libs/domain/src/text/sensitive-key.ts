import { caseFold } from './case-fold.js';

const SENSITIVE_ENDING = /(?:apikey|authorization|credential|password|secret|token)$/;
/** Of headers, of command lines, of environments. Not for turns: BEHAVIOUR 14 says which keys theirs are. */
const SPAN_ENDING = /(?:accesskey|cookie|passwd|privatekey|pwd|secretkey)$/;
const NOT_LETTER_OR_DIGIT = /[^\p{L}\p{N}]+/gu;

/**
 * Whether a mapping key names a secret: its letters and digits, case-folded, end in apikey, authorization, credential,
 * password, secret or token. So `x-api-key`, `dbPassword` and `to_ken` do, `apikeys` and `token_count` do not.
 */
export function isSensitiveKey(key: string): boolean {
  return SENSITIVE_ENDING.test(plain(key));
}

/**
 * Whether an attribute of a span names a secret: `isSensitiveKey`, and what instrumentations record of programs: keys that end in
 * cookie, passwd, pwd, private key, secret key or access key (`http.request.header.set-cookie`, `AWS_SECRET_ACCESS_KEY`).
 */
export function isSensitiveAttribute(key: string): boolean {
  const letters = plain(key);
  return SENSITIVE_ENDING.test(letters) || SPAN_ENDING.test(letters);
}

function plain(key: string): string {
  return caseFold(key.replace(NOT_LETTER_OR_DIGIT, ''));
}
