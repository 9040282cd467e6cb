export { ladderSavings, type Ladder, type LadderMetric, type MetricSpending } from './ladder.js';
