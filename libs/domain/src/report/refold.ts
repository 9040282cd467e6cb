import type { Report, Tier } from '#contracts';
import {
  foldTurn,
  standingSignatures,
  type Evidence,
  type GateConfig,
  type Trajectory,
  type TurnVerdict,
} from '../gate/index.js';
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
  /** The report as it stands. */
  readonly report: Report;
  /** It is new, or says something else than the last one, and is to be published. */
  readonly publish: boolean;
  /** Changed, but too far behind the newest turn to be published again. */
  readonly correctedQuietly: boolean;
}

/** The first turn that cannot be decided yet: a tier that it asks for has not answered. */
export interface BlockedTurn {
  readonly turn: number;
  readonly requested: readonly Tier[];
  /** Tiers to ask for now. */
  readonly request: readonly Tier[];
}

export interface Refold {
  readonly decisions: readonly TurnDecision[];
  readonly after: Trajectory;
  readonly blocked: BlockedTurn | null;
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
 * Decides a run of turns from the first one that changed (DATAFLOW, step 3), up to the first one that waits for a tier it asked
 * for: what that tier says decides what the turns after it mean, and they keep their last decision until it has spoken. A turn
 * whose tier 1 has not come is not there yet, and holds nobody up. Pure: whatever order evidence came in, the same evidence gives
 * the same decisions; only revisions tell that something was said before.
 */
export function refold({ before, turns, newest, digestOf }: RefoldInput): Refold {
  let after = before;
  const decisions: TurnDecision[] = [];
  for (const turn of turns) {
    const { evidence, config, facts, requested } = turn;
    if (!turn.folded || evidence[1] === undefined) continue;
    const verdict = foldTurn(after, evidence, config);
    if (!isAnswered(verdict, evidence)) {
      const request = verdict.asked.filter((tier) => tier >= 2 && !requested.includes(tier));
      return { decisions, after, blocked: { turn: facts.turn, requested: [...requested, ...request], request } };
    }
    decisions.push(decide(turn, verdict, newest, digestOf));
    after = verdict.after;
  }
  return { decisions, after, blocked: null };
}

function decide(turn: EvaluatedTurn, verdict: TurnVerdict, newest: number, digestOf: RefoldInput['digestOf']): TurnDecision {
  const { facts, evidence, config, requested } = turn;
  const report = buildReport(facts, evidence, verdict, config);
  const digest = digestOf(report);
  const changed = digest !== turn.digest;
  const near = turn.revision === 0 || newest - facts.turn <= config.revise_window_turns;
  const revision = changed && near ? turn.revision + 1 : turn.revision;
  return {
    turn: facts.turn,
    after: verdict.after,
    standing: standingSignatures(verdict.after),
    fired: report.fired,
    measured: isMeasured(report),
    requested,
    revision,
    digest,
    report: { ...report, revision },
    publish: changed && near,
    correctedQuietly: changed && !near,
  };
}
