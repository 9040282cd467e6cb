export { alertingScores, buildReport, isAnswered, isMeasured, type TurnFacts } from './report.js';
export { refold, type EvaluatedTurn, type RefoldInput, type TurnDecision } from './refold.js';
