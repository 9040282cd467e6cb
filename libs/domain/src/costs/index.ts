export { ladderSavings, type MetricSpending } from './ladder.js';
