import { describe, expect, it } from '@jest/globals';
import { takesReasoningEffort } from './reasoning-models.js';

describe('reasoning effort', () => {
  it.each([
    'gpt-5',
    'gpt-5.1',
    'openai/gpt-5-mini',
    'o3-mini',
    'o1',
    'gpt-oss-120b',
    'google/gemini-2.5-flash',
    'gemini-3-pro',
    'grok-3-mini',
  ])('is taken by %s', (model) => {
    expect(takesReasoningEffort(model)).toBe(true);
  });
  it.each([
    'gpt-4o-mini',
    'gpt-4.1',
    'gpt-5-chat-latest',
    'claude-sonnet-5',
    'llama-3.3-70b',
    'our-own',
    'gemini-2.0-flash',
    'mistral-large',
  ])('is not known to be taken by %s', (model) => {
    expect(takesReasoningEffort(model)).toBe(false);
  });
});
