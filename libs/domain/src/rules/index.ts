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
