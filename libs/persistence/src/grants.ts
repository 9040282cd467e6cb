import { foundationGrants } from './migrations/0002-grants.js';
import { grantsOfScoringInFull } from './migrations/0003-scoring-in-full.js';
import { grantsOfOpenTelemetry } from './migrations/0004-opentelemetry.js';
import { grantsOfRulesAndRepair } from './migrations/0005-rules-and-repair.js';
import { grantsOfTrials } from './migrations/0006-trials.js';
import { grantsOfReplays } from './migrations/0007-replays.js';
import { grantsOfOtlpInView } from './migrations/0009-otlp-in-view.js';
import { grantsOfEvalSet } from './migrations/0008-evalset.js';

/** Role to what it is granted by all migrations together, in the words of GRANT. */
export const grants: Readonly<Record<string, readonly string[]>> = joined(
  foundationGrants,
  grantsOfScoringInFull,
  grantsOfOpenTelemetry,
  grantsOfRulesAndRepair,
  grantsOfTrials,
  grantsOfReplays,
  grantsOfOtlpInView,
  grantsOfEvalSet,
);

function joined(...steps: readonly Readonly<Record<string, readonly string[]>>[]): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [role, allowed] of steps.flatMap((step) => Object.entries(step))) all[role] = [...(all[role] ?? []), ...allowed];
  return all;
}
