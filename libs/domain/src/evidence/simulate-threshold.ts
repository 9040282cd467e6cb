import { type Random } from './random.js';
import { forwardVerdict } from './threshold/forward-trial.js';
import type { Margins } from './threshold/margins.js';
import { replayVerdict, type ReplayedCase } from './threshold/replay-verdict.js';

/** What becomes of a candidate under method `threshold`, whose `retire` does not say why. */
export type ThresholdEnd = 'promoted' | 'retired' | 'pending';

const ENDS = { promote: 'promoted', retire: 'retired', pending: 'pending' } as const;

export interface ForwardScenario {
  /** Breach rate of a session with the rule. */
  readonly rate: number;
  /** The rate before the rule as the method measured it. */
  readonly before: number;
  readonly minSessions: number;
  readonly margins: Margins;
}

/** The method's forward trial: the first sessions with the rule against a rate from before it. */
export function runForward({ rate, before, minSessions, margins }: ForwardScenario, random: Random): ThresholdEnd {
  const breached = Array.from({ length: minSessions }, random.uniform).filter((draw) => draw < rate).length;
  const settings = { ...margins, rule_trial_min_sessions: minSessions };
  return ENDS[forwardVerdict({ observed: minSessions, breached }, before, settings).outcome];
}

export interface ThresholdReplayScenario {
  /** The score of one run, without and with the rule. */
  readonly scoreBefore: (random: Random) => number;
  readonly scoreAfter: (random: Random) => number;
  readonly margins: Margins;
}

const METRIC = 'task_completion';
/** A failure is captured because its score was below the threshold: that is what makes its next run look better. */
const CAPTURED_BELOW = 0.5;
const CASES = 3;
/** A mean score far above the threshold would be drawn for ever. */
const MAX_DRAWS = 10_000;

/** The method's replay: three captured failures, one run each with the rule, against the score at capture. */
export function runThresholdReplay(scenario: ThresholdReplayScenario, random: Random): ThresholdEnd {
  const replayed = Array.from({ length: CASES }, (_, at): ReplayedCase => {
    const signature = [`breach:${METRIC}`];
    const baseline = { [METRIC]: capturedScore(scenario.scoreBefore, random) };
    return {
      case: { id: `${at}`, kind: 'failure', signature, baseline, replayable: true },
      run: { result: 'scored', read: true, scores: { [METRIC]: scenario.scoreAfter(random) } },
    };
  });
  return ENDS[replayVerdict({ metric: METRIC, tags: [] }, replayed, scenario.margins).outcome];
}

function capturedScore(draw: (random: Random) => number, random: Random): number {
  for (let at = 0; at < MAX_DRAWS; at += 1) {
    const score = draw(random);
    if (score < CAPTURED_BELOW) return score;
  }
  throw new RangeError(`a base score of which no run is below ${CAPTURED_BELOW} has no failure to capture`);
}
