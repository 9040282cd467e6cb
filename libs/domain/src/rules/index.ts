export { fileUnder, filingContext, hostLabels, preciseRecommendation, type FilingContext, type ScopeChoice } from './filing.js';
export {
  answerNoveltyLine,
  answerScopeLine,
  answerSearchLine,
  scopeContexts,
  type NoveltyLine,
  type ScopeContext,
  type ScopeLine,
  type SearchLine,
} from './golden.js';
export { NoveltyIndex, type Cover, type Likeness, type Novelty } from './novelty-index.js';
export {
  coverOf,
  normalRuleText,
  noveltyChecks,
  overlapOf,
  traitsOf,
  type ComparedRule,
  type NoveltyCheck,
  type Overlap,
  type Proposal,
  type Traits,
} from './novelty.js';
export { byNewest, byScope, byStanding } from './order.js';
export { checkRuleMetric, failureSignatures, ruleTags, type MetricCheck, type NoticeMarks } from './provenance.js';
export { applicabilities, isLive, ruleStatuses, type Applicability, type RuleCore, type RuleStatus } from './rule.js';
export {
  GLOBAL_SCOPE,
  normalizeScope,
  normalizeScopeOrNull,
  readableScope,
  SCOPE_MAX,
  SCOPED_SCOPE,
  type ScopeCheck,
} from './scope.js';
export { SearchIndex, type Ranked, type SearchableRule } from './search-index.js';
export {
  changeRule,
  isDelivered,
  isHeld,
  newCandidate,
  type Hold,
  type HoldMode,
  type RuleActor,
  type RuleChange,
  type RuleChanged,
  type RuleState,
} from './life-cycle.js';
export {
  LIST_MAX,
  RuleLibrary,
  SEARCH_DEFAULT,
  SEARCH_MAX,
  type Narrowing,
  type ScopeAnswer,
  type ScopeEntry,
  type ScopeList,
  type SearchAnswer,
  type StatusAnswer,
} from './library.js';
export { lintCodes, lintRule, type LintCode, type LintFinding } from './lint.js';
export { preamble } from './preamble.js';
export { INDEX_FILE, renderFiles, renderIndex, renderScope, scopeFile } from './render.js';
export { checkRuleText, RULE_TEXT_MAX, type RuleTextCheck } from './rule-text.js';
export {
  PROVISIONAL_HEADING,
  READ_BOUNDS,
  UNBOUNDED,
  withoutSession,
  type Answer,
  type Bounds,
  type Exposure,
  type FoundRule,
  type ReadableRule,
  type Reader,
  type Reading,
  type ShownRule,
} from './shown-rule.js';
