import { caseFold } from './case-fold.js';

const SENSITIVE_ENDING = /(?:apikey|authorization|credential|password|secret|token)$/;
const NOT_LETTER_OR_DIGIT = /[^\p{L}\p{N}]+/gu;

/**
 * Whether a mapping key names a secret: its letters and digits, case-folded, end in apikey, authorization, credential,
 * password, secret or token. So `x-api-key`, `dbPassword` and `to_ken` do, `apikeys` and `token_count` do not.
 */
export function isSensitiveKey(key: string): boolean {
  return SENSITIVE_ENDING.test(caseFold(key.replace(NOT_LETTER_OR_DIGIT, '')));
}
