import { describe, expect, it } from '@jest/globals';
import { isSensitiveAttribute, isSensitiveKey } from './sensitive-key.js';

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

describe('isSensitiveAttribute', () => {
  it.each(['password', 'http.request.header.set-cookie', 'Cookie', 'passwd', 'DB_PWD', 'private_key', 'AWS_SECRET_ACCESS_KEY'])(
    'says yes to %s',
    (key) => expect(isSensitiveAttribute(key)).toBe(true),
  );
  it.each(['cookies_accepted', 'pwd_length', 'cache_key', 'aws_access_key_id', 'session.id', 'token_count'])(
    'says no to %s',
    (key) => expect(isSensitiveAttribute(key)).toBe(false),
  );
});
