import { describe, expect, it } from '@jest/globals';
import { redactText } from './secret-patterns.js';

/** A made-up secret, written in two halves so that no scanner takes this file for a leak. */
const halves = (a: string, b: string): string => a + b;

const secrets: readonly [format: string, secret: string][] = [
  ['OpenAI key', halves('sk-', 'proj-abc123DEF456ghi789_JKL-mno')],
  ['Anthropic key', halves('sk-', 'ant-api03-abcdef1234567890')],
  ['Stripe key', halves('sk_', 'live_abcdef1234567890ABCD')],
  ['AWS key id', halves('AKIA', 'IOSFODNN7EXAMPLE')],
  ['GitHub token', halves('ghp_', '0123456789abcdefghijABCDEFGHIJ012345')],
  ['GitHub fine-grained token', halves('github_pat_', '11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz')],
  ['Slack token', halves('xoxb-', '123456789012-abcdefABCDEF')],
  ['JWT', halves('eyJ', 'hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpM')],
  ['Google key', halves('AIza', 'SyA1234567890abcdefghijklmnopqrstuv')],
  ['own key', halves('fm_', 'default_a1b2c3d4e5f6g7h8i9')],
  ['own key with dashes', halves('fm_', 'my-shop_a1b2c3d4-e5f6_g7h8i9')],
  ['private key', halves('-----BEGIN ', 'RSA PRIVATE KEY-----\nMIIE+/=\nabc\n-----END RSA PRIVATE KEY-----')],
  ['private key that was cut off', halves('-----BEGIN ', 'PRIVATE KEY-----\nMIIEabc')],
];

describe('redactText', () => {
  it.each(secrets)('redacts a %s', (_format, secret) => {
    expect(redactText(secret)).toBe('[redacted]');
    expect(redactText(`use "${secret}", then go`)).toBe('use "[redacted]", then go');
    expect(redactText(`KEY=${secret}`)).toBe('KEY=[redacted]');
  });

  it('keeps what is around a bearer token and a password in a URL', () => {
    expect(redactText('Authorization: Bearer abc.def-123=, ok')).toBe('Authorization: Bearer [redacted], ok');
    expect(redactText('postgres://app:p@ss:w0rd@db:5432/x?y=a@b')).toBe('postgres://app:[redacted]@db:5432/x?y=a@b');
    expect(redactText('redis://:hunter2@cache')).toBe('redis://:[redacted]@cache');
  });

  it('finds every secret of a text', () => {
    const text = secrets.map(([format, secret]) => `${format}: ${secret}.`).join('; ');
    expect(redactText(text).match(/\[redacted\]/g)).toHaveLength(secrets.length);
  });

  it.each([
    'risk-assessment-2024-of-everything',
    'use sk-learn-classifier-model-selection',
    'a bearer of bad news',
    'the task-manager-0123456789abcdef',
    'see https://example.com:8080/path?mail=a@b.example',
    'fm_radio_station_list_of_europe',
    'confirm_default_a1b2c3d4e5f6g7h8i9',
    '12345678901234567890 4111111111111111 2026-01-21T12:53:20Z',
    'a'.repeat(64),
    '0af7651916cd43dd8448eb211c80319c',
  ])('leaves %j alone', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('is idempotent', () => {
    const text = `${secrets.map(([, secret]) => secret).join(' ')} Bearer abc123def456 https://u:p@h`;
    expect(redactText(redactText(text))).toBe(redactText(text));
  });

  it.each([
    'eyJ',
    'eyJaaaaaaaa.',
    'sk-',
    'Bearer ',
    'Bearer a1a1a1a1',
    '-----BEGIN PRIVATE KEY-----',
    '://a:',
    '"token":"',
    '"token":{',
    '\\',
    'fm_a',
    'a',
  ])('takes megabytes of %j', (piece) => {
    expect(typeof redactText(piece.repeat(4_000_000 / piece.length))).toBe('string');
  });
});
