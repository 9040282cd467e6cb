import type { ResolvingStatus } from '#contracts';

/** What a run may use. */
export interface RunBounds {
  /** Requests to the model. */
  readonly maxTurns: number;
  /** Output tokens over the whole run. */
  readonly maxOutputTokens: number;
}

/** What has to be looked at before there is anything to decide. */
export const evidenceKinds = ['notice', 'trace', 'search'] as const;
export type EvidenceKind = (typeof evidenceKinds)[number];

/** How a conversation ends by itself. Time and cancellation come from outside. */
export type ConversationEnd =
  | { readonly kind: 'resolved'; readonly status: ResolvingStatus; readonly ruleId: string | null; readonly note: string | null }
  | { readonly kind: 'failed'; readonly category: 'turn_limit' | 'token_limit' | 'empty_response' };

/** What came of one tool call. */
export type CallOutcome =
  | { readonly kind: 'read'; readonly evidence: EvidenceKind | null; readonly ruleIds: readonly string[] }
  | { readonly kind: 'refused' }
  /** The proposal says what a rule says already. The model decides what follows. */
  | { readonly kind: 'suppressed'; readonly reason: string; readonly ruleIds: readonly string[] }
  | { readonly kind: 'candidate'; readonly ruleId: string; readonly scope: string; readonly scopeRationale: string | null }
  | { readonly kind: 'resolved'; readonly status: ResolvingStatus; readonly ruleId: string | null; readonly note: string | null };

/** What the model is told between its turns. */
export type Instruction = 'reminder' | 'decide' | 'acknowledge';

/** One run as far as it has come. */
export interface Conversation {
  readonly turns: number;
  readonly outputTokens: number;
  readonly toolCalls: number;
  /** Replies without tool calls. */
  readonly emptyReplies: number;
  readonly evidence: readonly EvidenceKind[];
  /** The rule of the episode, whether this run wrote it or an earlier one. */
  readonly candidate: string | null;
  readonly selectedScope: string | null;
  readonly scopeRationale: string | null;
  readonly consideredRuleIds: readonly string[];
  readonly suppressionReason: string | null;
  /** Said once each. */
  readonly told: readonly Instruction[];
  readonly end: ConversationEnd | null;
}

/** Rule ids that a result names. */
const CONSIDERED_MAX = 100;
/** A reply without tool calls is reminded of them once. */
const EMPTY_REPLIES_MAX = 2;

/** @param candidate the rule that an earlier run of the episode wrote */
export function beginConversation(candidate: string | null): Conversation {
  return {
    ...{ turns: 0, outputTokens: 0, toolCalls: 0, emptyReplies: 0, evidence: [], candidate, selectedScope: null },
    ...{ scopeRationale: null, consideredRuleIds: [], suppressionReason: null, told: [], end: null },
  };
}

export type NextStep =
  { readonly kind: 'ask'; readonly maxOutputTokens: number } | { readonly kind: 'end'; readonly end: ConversationEnd };

/** Whether the model is asked again, and for how many tokens at most. What was paid for is always carried out before. */
export function nextStep(conversation: Conversation, bounds: RunBounds): NextStep {
  if (conversation.end !== null) return { kind: 'end', end: conversation.end };
  const left = bounds.maxOutputTokens - conversation.outputTokens;
  if (left <= 0) return failed('token_limit');
  if (conversation.turns >= bounds.maxTurns) return failed('turn_limit');
  return { kind: 'ask', maxOutputTokens: left };
}

function failed(category: 'turn_limit' | 'token_limit'): NextStep {
  return { kind: 'end', end: { kind: 'failed', category } };
}

/** The model has replied, with so many tool calls. Decided by what is there: finish reasons lie. */
export function afterReply(
  conversation: Conversation,
  { outputTokens, calls }: { readonly outputTokens: number; readonly calls: number },
): Conversation {
  const emptyReplies = conversation.emptyReplies + (calls === 0 ? 1 : 0);
  const isLast = calls === 0 && emptyReplies >= EMPTY_REPLIES_MAX;
  return {
    ...conversation,
    ...{ turns: conversation.turns + 1, outputTokens: conversation.outputTokens + outputTokens, emptyReplies },
    end: isLast ? { kind: 'failed', category: 'empty_response' } : conversation.end,
  };
}

/** Calls of one reply are carried out in order, until one resolves the episode. */
export function mayCall({ end }: Conversation): boolean {
  return end === null;
}

export function afterCall(before: Conversation, outcome: CallOutcome): Conversation {
  const conversation = { ...before, toolCalls: before.toolCalls + 1 };
  switch (outcome.kind) {
    case 'refused':
      return conversation;
    case 'read':
      return { ...considering(conversation, outcome.ruleIds), evidence: withEvidence(conversation.evidence, outcome.evidence) };
    case 'suppressed':
      return { ...considering(conversation, outcome.ruleIds), suppressionReason: outcome.reason };
    case 'candidate': {
      const { ruleId: candidate, scope: selectedScope, scopeRationale } = outcome;
      return { ...conversation, candidate, selectedScope, scopeRationale };
    }
    case 'resolved':
      return { ...conversation, end: outcome };
  }
}

function considering(conversation: Conversation, ids: readonly string[]): Conversation {
  const consideredRuleIds = [...new Set([...conversation.consideredRuleIds, ...ids])].slice(0, CONSIDERED_MAX);
  return { ...conversation, consideredRuleIds };
}

function withEvidence(known: readonly EvidenceKind[], kind: EvidenceKind | null): readonly EvidenceKind[] {
  return kind === null || known.includes(kind) ? known : [...known, kind];
}

/** What the model is told before its next turn, and the conversation that remembers having said it. */
export function instruct(conversation: Conversation, lastCalls: number): [Conversation, Instruction | null] {
  const instruction = instructionFor(conversation, lastCalls);
  if (instruction === null) return [conversation, null];
  return [{ ...conversation, told: [...conversation.told, instruction] }, instruction];
}

function instructionFor({ end, candidate, evidence, told }: Conversation, lastCalls: number): Instruction | null {
  if (end !== null) return null;
  if (lastCalls === 0) return 'reminder';
  if (candidate !== null) return told.includes('acknowledge') ? null : 'acknowledge';
  return evidence.length === evidenceKinds.length && !told.includes('decide') ? 'decide' : null;
}
