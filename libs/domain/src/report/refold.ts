import type { Report, Tier } from '#contracts';
import { foldTurn, standingSignatures, type Evidence, type GateConfig, type Trajectory } from '../gate/index.js';
import { buildReport, isAnswered, isMeasured, type TurnFacts } from './report.js';

/** One turn of a session as gating keeps it: the facts, and what was decided from them last time. */
export interface EvaluatedTurn {
  readonly facts: TurnFacts;
  readonly evidence: Evidence;
  readonly config: GateConfig;
  /** False for a turn that came after its place had been summarised: stored, never folded. */
  readonly folded: boolean;
  /** Tiers that were asked for by event, ever. */
  readonly requested: readonly Tier[];
  readonly revision: number;
  /** What the last published or corrected report said; empty when there is none. */
  readonly digest: string;
}

export interface TurnDecision {
  readonly turn: number;
  readonly after: Trajectory;
  readonly standing: readonly string[];
  readonly fired: readonly string[];
  readonly measured: boolean;
  readonly requested: readonly Tier[];
  readonly revision: number;
  readonly digest: string;
  /** Tiers to ask for now. */
  readonly request: readonly Tier[];
  /** The report to publish, when it is new or says something else than the last one. */
  readonly publish: Report | null;
  /** The report as it stands; null until every asked tier has answered. */
  readonly report: Report | null;
  /** Changed, but too far behind the newest turn to be published again. */
  readonly correctedQuietly: boolean;
}

export interface RefoldInput {
  /** The session before the first of `turns`. */
  readonly before: Trajectory;
  /** In turn order, without gaps among the known ones. */
  readonly turns: readonly EvaluatedTurn[];
  /** The highest turn known of the session. */
  readonly newest: number;
  readonly digestOf: (report: Omit<Report, 'revision'>) => string;
}

/**
 * Decides a run of turns from the first one that changed to the last (DATAFLOW, step 3). Pure: whatever order evidence came
 * in, the same evidence gives the same decisions; only revisions tell that something was said before.
 */
export function refold({ before, turns, newest, digestOf }: RefoldInput): { decisions: TurnDecision[]; after: Trajectory } {
  let trajectory = before;
  const decisions: TurnDecision[] = [];
  for (const turn of turns) {
    if (!turn.folded) continue;
    const decision = decide(trajectory, turn, newest, digestOf);
    trajectory = decision.after;
    decisions.push(decision);
  }
  return { decisions, after: trajectory };
}

function decide(before: Trajectory, turn: EvaluatedTurn, newest: number, digestOf: RefoldInput['digestOf']): TurnDecision {
  const { facts, evidence, config } = turn;
  const verdict = foldTurn(before, evidence, config);
  const report = buildReport(facts, evidence, verdict, config);
  const request = verdict.asked.filter((tier) => tier >= 2 && !turn.requested.includes(tier));
  const answered = isAnswered(verdict, evidence);
  const digest = answered ? digestOf(report) : turn.digest;
  const changed = answered && digest !== turn.digest;
  const near = turn.revision === 0 || newest - facts.turn <= config.revise_window_turns;
  const revision = changed && near ? turn.revision + 1 : turn.revision;
  return {
    turn: facts.turn,
    after: verdict.after,
    standing: standingSignatures(verdict.after),
    fired: report.fired,
    measured: isMeasured(report),
    requested: [...turn.requested, ...request],
    revision,
    digest,
    request,
    publish: changed && near ? { ...report, revision } : null,
    report: answered ? { ...report, revision } : null,
    correctedQuietly: changed && !near,
  };
}
