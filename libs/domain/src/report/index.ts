export { alertingScores, buildReport, isAnswered, isMeasured, type TurnFacts } from './report.js';
export { refold, type BlockedTurn, type EvaluatedTurn, type Refold, type RefoldInput, type TurnDecision } from './refold.js';
