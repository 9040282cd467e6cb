import { quantileSorted } from 'simple-statistics';
import { decideTrial, type TrialSettings } from './decision.js';
import { liveBets, mayReach, type LiveBets } from './live-e-process.js';
import { randomFrom, type Random } from './random.js';
import { runForward, runThresholdReplay } from './simulate-threshold.js';
import type { Margins } from './threshold/margins.js';
import { beginTrial, observe, type Observation, type TrialState } from './trial.js';

/** How often to simulate, by which numbers, and how to decide. */
interface Repetition {
  readonly runs: number;
  readonly seed: number;
  readonly method: 'evidence' | 'threshold';
  /** Of method `evidence`; `trial_max_sessions` is the cap of a live trial. */
  readonly settings: TrialSettings;
  /** Of method `threshold`. */
  readonly margins: Margins;
}

/** A fleet whose sessions come one by one and breach independently. */
export interface LiveScenario extends Repetition {
  readonly kind: 'live';
  /** Breach rate without the rule, at the first session and at the last of the cap; between them it moves evenly. */
  readonly baseRate: number;
  readonly lastBaseRate: number;
  /** What the rule takes off that rate: positive helps, 0 is a placebo. The rate with the rule is held to [0, 1]. */
  readonly effect: number;
  readonly allocation: number;
  /** For method `threshold`: the rate that it measured before the rule, and how many sessions it waits for. */
  readonly beforeRate: number;
  readonly minSessions: number;
}

/** Failure cases run in pairs; the score of a run is normal around its mean and held to [0, 1]. */
export interface PairsScenario extends Repetition {
  readonly kind: 'pairs';
  /** Mean score of a run without the rule. */
  readonly baseScore: number;
  /** What the rule adds to it. */
  readonly effect: number;
  /** Standard deviation of one run. */
  readonly deviation: number;
  readonly maxPairs: number;
}

export type Scenario = LiveScenario | PairsScenario;

export interface SimulatedShares {
  readonly promoted: number;
  readonly harmful: number;
  /** Neither, by the cap. Under method `threshold`: everything that was not promoted, since it does not say why it retires. */
  readonly unproven: number;
  /** Of the share promoted, by the number of runs. */
  readonly standard_error: number;
  /** Sessions or pairs counted until promotion, over the promoted; null when none was. */
  readonly needed: { readonly median: number; readonly p90: number } | null;
}

export interface SimulatedRun {
  readonly end: 'promoted' | 'harmful' | 'unproven';
  readonly counted: number;
}

/** Shares over many candidates, each decided by the product's own code. The same scenario gives the same answer. */
export function simulate(scenario: Scenario): SimulatedShares {
  const run = runner(scenario);
  return sharesOf(Array.from({ length: scenario.runs }, (_, at) => run(randomFrom(scenario.seed, at))));
}

function runner(scenario: Scenario): (random: Random) => SimulatedRun {
  if (scenario.kind === 'live') {
    if (scenario.method === 'threshold') return (random) => thresholdLive(scenario, random);
    const bets = liveBets(scenario.allocation);
    return (random) => runLive(scenario, bets, random);
  }
  if (scenario.method === 'threshold') return (random) => thresholdPairs(scenario, random);
  const bets = liveBets(EVEN);
  return (random) => runPairs(scenario, bets, random);
}

const EVEN = 0.5;

function runLive({ settings, allocation, ...scenario }: LiveScenario, bets: LiveBets, random: Random): SimulatedRun {
  const cap = settings.trial_max_sessions;
  const bound = Math.log(1 / Math.max(settings.trial_alpha, settings.trial_alpha_harm));
  const due = ({ sessions }: TrialState): boolean => mayReach(sessions, bets, bound);
  return runTrial({ allocation, cap, settings, due }, bets, (at) => {
    const rate = scenario.baseRate + ((scenario.lastBaseRate - scenario.baseRate) * at) / Math.max(1, cap - 1);
    const arm = random.uniform() < allocation ? 'treatment' : 'control';
    return { kind: 'session', arm, breached: random.uniform() < (arm === 'treatment' ? held(rate - scenario.effect) : rate) };
  });
}

function runPairs({ settings, ...scenario }: PairsScenario, bets: LiveBets, random: Random): SimulatedRun {
  return runTrial({ allocation: EVEN, cap: scenario.maxPairs, settings, due: () => true }, bets, () => ({
    kind: 'pair',
    delta: runScore(scenario, scenario.effect, random) - runScore(scenario, 0, random),
  }));
}

function runScore(
  { baseScore, deviation }: Pick<PairsScenario, 'baseScore' | 'deviation'>,
  effect: number,
  random: Random,
): number {
  return held(baseScore + effect + deviation * random.normal());
}

function held(value: number): number {
  return Math.min(1, Math.max(0, value));
}

interface Plan {
  readonly allocation: number;
  readonly cap: number;
  readonly settings: TrialSettings;
  /** Whether there could be a verdict other than pending: a look that cannot decide changes nothing, and most cannot. */
  readonly due: (state: TrialState) => boolean;
}

/** One trial, looked at after every observation. */
function runTrial({ allocation, cap, settings, due }: Plan, bets: LiveBets, next: (at: number) => Observation): SimulatedRun {
  let state = beginTrial(allocation);
  for (let at = 0; at < cap; at += 1) {
    state = observe(state, next(at));
    if (!due(state)) continue;
    const verdict = decideTrial(state, bets, settings);
    if (verdict.verdict === 'promote') return { end: 'promoted', counted: at + 1 };
    if (verdict.verdict === 'retire') return { end: verdict.reason, counted: at + 1 };
  }
  return { end: 'unproven', counted: cap };
}

function thresholdLive(scenario: LiveScenario, random: Random): SimulatedRun {
  const { minSessions, margins, beforeRate: before } = scenario;
  const rate = held(scenario.baseRate - scenario.effect);
  const end = runForward({ rate, before, minSessions, margins }, random);
  return { end: end === 'promoted' ? end : 'unproven', counted: minSessions };
}

function thresholdPairs(scenario: PairsScenario, random: Random): SimulatedRun {
  const end = runThresholdReplay(
    {
      scoreBefore: (one) => runScore(scenario, 0, one),
      scoreAfter: (one) => runScore(scenario, scenario.effect, one),
      margins: scenario.margins,
    },
    random,
  );
  return { end: end === 'promoted' ? end : 'unproven', counted: 1 };
}

function sharesOf(runs: readonly SimulatedRun[]): SimulatedShares {
  const share = (end: SimulatedRun['end']): number => runs.filter((one) => one.end === end).length / runs.length;
  const needed = runs.flatMap(({ end, counted }) => (end === 'promoted' ? [counted] : [])).sort((a, b) => a - b);
  const promoted = share('promoted');
  return {
    promoted,
    harmful: share('harmful'),
    unproven: share('unproven'),
    standard_error: Math.sqrt((promoted * (1 - promoted)) / runs.length),
    needed: needed.length === 0 ? null : { median: quantileSorted(needed, 0.5), p90: quantileSorted(needed, 0.9) },
  };
}
