export { isFleetTask, replayTask, runSession, type FleetOptions, type FleetTask } from './agent.js';
export { draw } from './draw.js';
export { judgeTurns, type JudgedTurn } from './judge-turns.js';
export { failureModes, fleetTools, modeNames, type FailureMode, type ModeName, type PlannedCall } from './modes.js';
export { meaningOf, memoryRules, noRules, ruleText, type Effect, type FleetRule, type RuleReader } from './rules.js';
export { type FleetTurn } from './turn-of.js';
