import { describe, expect, it } from '@jest/globals';
import { isSensitiveKey } from './sensitive-key.js';

describe('isSensitiveKey', () => {
  it.each([
    'apiKey',
    'X-Api-Key',
    'proxy-authorization',
    'aws_credential',
    'dbPassword',
    'to_ken',
    'paſſword',
    'TOKEN ',
    'a.secret!',
  ])('says yes to %s', (key) => {
    expect(isSensitiveKey(key)).toBe(true);
  });
  it.each(['', 'apikeys', 'passwd', 'token_count', 'prompt_tokens', 'private_key', 'tokené', 'token2'])(
    'says no to %s',
    (key) => {
      expect(isSensitiveKey(key)).toBe(false);
    },
  );
});
