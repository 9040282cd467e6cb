import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  afterCall,
  afterReply,
  beginConversation,
  instruct,
  mayCall,
  nextStep,
  type CallOutcome,
  type Conversation,
} from './conversation.js';

const bounds = { maxTurns: 6, maxOutputTokens: 100 };
const read = (evidence: 'notice' | 'trace' | 'search' | null, ...ruleIds: string[]): CallOutcome => ({
  kind: 'read',
  evidence,
  ruleIds,
});
const candidate: CallOutcome = { kind: 'candidate', ruleId: 'r-1', scope: 'payments', scopeRationale: 'it is about paying' };
const resolved: CallOutcome = { kind: 'resolved', status: 'candidate_added', ruleId: 'r-1', note: null };
const suppressed: CallOutcome = { kind: 'suppressed', reason: 'near_duplicate_text', ruleIds: ['r-2'] };
const refused: CallOutcome = { kind: 'refused' };

function reply(conversation: Conversation, ...outcomes: CallOutcome[]): Conversation {
  let after = afterReply(conversation, { outputTokens: 10, calls: outcomes.length });
  for (const outcome of outcomes) if (mayCall(after)) after = afterCall(after, outcome);
  return after;
}

describe('a repair conversation', () => {
  it('asks for what is left of its tokens', () => {
    expect(nextStep(reply(beginConversation(null), read('notice')), bounds)).toEqual({ kind: 'ask', maxOutputTokens: 90 });
  });
  it('reminds of the tools once; a second reply without a call ends it, wherever it comes', () => {
    const first = reply(beginConversation(null));
    expect(instruct(first, 0)[1]).toBe('reminder');
    const second = reply(reply(first, read('notice')));
    expect(nextStep(second, bounds)).toEqual({ kind: 'end', end: { kind: 'failed', category: 'empty_response' } });
    expect(instruct(second, 0)[1]).toBeNull();
  });
  it('ends when its turns or its tokens are used up', () => {
    const end = (category: string) => ({ kind: 'end', end: { kind: 'failed', category } });
    const once = reply(beginConversation(null), refused);
    expect(nextStep(once, { ...bounds, maxTurns: 1 })).toEqual(end('turn_limit'));
    expect(nextStep(once, { ...bounds, maxOutputTokens: 10 })).toEqual(end('token_limit'));
  });
  it('carries out what was paid for: a reply that resolves with the last token resolves', () => {
    const step = nextStep(reply(beginConversation('r-1'), resolved), { maxTurns: 1, maxOutputTokens: 1 });
    expect(step).toEqual({ kind: 'end', end: resolved });
  });
  it('does not carry out calls after the one that resolved', () => {
    const after = reply(beginConversation('r-1'), resolved, read('search', 'r-9'));
    expect(after).toMatchObject({ toolCalls: 1, consideredRuleIds: [] });
  });
  it('is told to decide when notice, trace and search were read, once', () => {
    const [partly, nothing] = instruct(reply(beginConversation(null), read('notice'), read('trace'), read(null)), 3);
    expect(nothing).toBeNull();
    const [after, decide] = instruct(reply(partly, read('search', 'r-2')), 1);
    expect(decide).toBe('decide');
    expect(instruct(reply(after, read('search')), 1)[1]).toBeNull();
  });
  it('is told to acknowledge what it wrote, and not to decide any more', () => {
    const [after, instruction] = instruct(
      reply(beginConversation(null), read('notice'), read('trace'), read('search'), candidate),
      4,
    );
    expect(instruction).toBe('acknowledge');
    expect(after).toMatchObject({ candidate: 'r-1', selectedScope: 'payments', scopeRationale: 'it is about paying' });
  });
  it('goes on after a proposal that was suppressed or refused', () => {
    const after = reply(beginConversation(null), suppressed, refused);
    expect(nextStep(after, bounds).kind).toBe('ask');
    expect(after).toMatchObject({ suppressionReason: 'near_duplicate_text', consideredRuleIds: ['r-2'], candidate: null });
  });
  it('ends whatever the model does, within its turns, and never twice', () => {
    const outcome = fc.constantFrom(read('notice'), read('trace'), read('search', 'r'), refused, suppressed, candidate, resolved);
    const replies = fc.infiniteStream(fc.array(outcome, { maxLength: 4 }));
    fc.assert(
      fc.property(
        replies,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 100 }),
        (stream, maxTurns, maxOutputTokens) => {
          let conversation = beginConversation(null);
          let asked = 0;
          for (const outcomes of stream) {
            if (nextStep(conversation, { maxTurns, maxOutputTokens }).kind === 'end') break;
            asked += 1;
            const after = reply(conversation, ...outcomes);
            if (conversation.end !== null) expect(after.end).toEqual(conversation.end);
            [conversation] = instruct(after, outcomes.length);
          }
          expect(asked).toBeLessThanOrEqual(maxTurns);
          expect(conversation.told.filter((one) => one === 'reminder').length).toBeLessThanOrEqual(1);
          expect(conversation.outputTokens).toBeLessThanOrEqual(maxOutputTokens + 9);
        },
      ),
    );
  });
});
