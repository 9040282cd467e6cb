import type { ProjectSettings } from '#contracts';
import { EVALUATOR, hasCheck } from '#domain/checks';
import { gateConfig, type GateConfig } from '#domain/gate';
import { contentHash } from '#domain/ids';
import { scoringPlan, type ScoringPlan } from '#domain/scoring';
import { judgedMetrics, promptHash } from '#judges';

/** Everything of a project's settings that decides a turn, stored once per content and named by its turns. */
export interface TurnConfig extends GateConfig {
  /** Absent in configurations that were stored before there were judges. */
  readonly scoring?: ScoringPlan;
}

export interface NamedConfig {
  readonly id: string;
  readonly config: TurnConfig & { readonly scoring: ScoringPlan };
}

const judged = new Set<string>(judgedMetrics);

export function turnConfig(settings: ProjectSettings): NamedConfig {
  const scoring = scoringPlan(settings, {
    hasCheck,
    hasJudge: (metric) => judged.has(metric),
    checkVersion: EVALUATOR,
    promptHash,
  });
  const config = { ...gateConfig(settings), scoring };
  return { id: contentHash(JSON.stringify(config)), config };
}
