export { settlementOf, type LiveEpisode, type Settlement, type SettleState } from './settlement.js';
export { runResultOf, type EndedRun } from './run-result.js';
