export { alertingScores, buildReport, isAnswered, isMeasured, type TurnFacts } from './report.js';
