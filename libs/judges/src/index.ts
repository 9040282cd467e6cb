export { judge, promptHash } from './judge.js';
export { judgedMetrics, type JudgedMetric } from './judged-metrics.js';
export { checkOwnJudge, placeholders, type OutputRule, type OwnJudge, type Placeholder } from './own/own-judge.js';
export { inMemoryStages } from './stage-memory.js';
export type { JudgeModel, JudgeOutcome, JudgeTask, Question, StageMemory } from './task.js';
