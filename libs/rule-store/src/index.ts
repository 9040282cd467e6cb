export { ProjectRules, type StoredRule } from './project-rules.js';
export { RuleDirectory, type DirectoryOptions, type Read } from './rule-directory.js';
export { ruleReads, type RefusedRead, type RuleRead } from './rule-reads.js';
export { RULE_COLUMNS, storedRule, type RuleRow } from './rule-row.js';
export { lockRules, setRulesVersion, type LockedRules, type RuleTransaction } from './rule-version.js';
