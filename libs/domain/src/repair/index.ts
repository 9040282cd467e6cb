export { assignment, type AssignmentFacts } from './assignment.js';
export { backoffS, isGivenUp } from './backoff.js';
export { decideClaim, type ClaimDecision, type ClaimFacts, type Cover } from './claim.js';
export {
  afterCall,
  afterReply,
  beginConversation,
  instruct,
  mayCall,
  nextStep,
  type CallOutcome,
  type Conversation,
  type ConversationEnd,
  type EvidenceKind,
  type Instruction,
  type NextStep,
  type RunBounds,
} from './conversation.js';
export type { EpisodeFacts, RepairNotice, TraceFacts } from './episode-facts.js';
export { outsidePart, outsideText } from './outside-text.js';
export { instructionText, NOT_EXECUTED, systemPrompt } from './prompt.js';
export { draftRule, type Drafted, type ProposalContext, type ProposedRule, type RuleDraft } from './proposal.js';
export { noticeView, traceView } from './views.js';
