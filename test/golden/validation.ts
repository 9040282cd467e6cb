import {
  answerArmLine,
  answerBaselineLine,
  answerEngineLine,
  answerForwardLine,
  answerLiveLine,
  answerObserveLine,
  answerPairsLine,
  answerRegressionLine,
  withinTolerance,
  type ArmLine,
  type BaselineLine,
  type EngineLine,
  type EvidenceAnswer,
  type ForwardLine,
  type LiveLine,
  type ObserveLine,
  type PairsLine,
  type RegressionLine,
  type ReplayLine,
} from '#domain/evidence';
import { answerEvalSetLine, type EvalSetLine } from '#domain/evalset';
import type { Compare, Comparison, GoldenLine } from './comparison.js';
import { compareWithSeed } from './seed-replay.js';

/** The members of the line that an answer has. */
function same(line: GoldenLine, answer: object): Comparison {
  const actual = { ...answer };
  return { expected: Object.fromEntries(Object.keys(actual).map((name) => [name, line[name]])), actual };
}

function compareLogs(line: GoldenLine, answer: EvidenceAnswer): Comparison {
  return same(line, withinTolerance(answer, line as unknown as EvidenceAnswer));
}

export const evidenceKinds: Readonly<Record<string, Compare>> = {
  live: (line) => compareLogs(line, answerLiveLine(line as unknown as LiveLine)),
  pairs: (line) => compareLogs(line, answerPairsLine(line as unknown as PairsLine)),
  arm: (line) => same(line, answerArmLine(line as unknown as ArmLine)),
};

export const verdictKinds: Readonly<Record<string, Compare>> = {
  forward: (line) => same(line, answerForwardLine(line as unknown as ForwardLine)),
  observe: (line) => same(line, answerObserveLine(line as unknown as ObserveLine)),
  baseline: (line) => same(line, answerBaselineLine(line as unknown as BaselineLine)),
  regression: (line) => same(line, answerRegressionLine(line as unknown as RegressionLine)),
  replay: compareReplay,
  engine: compareEngine,
};

/** The line must be what the seed's habits make of our code; where they matter, ours is another answer, with the reason. */
function compareReplay(line: GoldenLine): Comparison {
  const { seed, reasons } = compareWithSeed(line as unknown as ReplayLine);
  return { ...same(line, seed), ...(reasons.length === 0 ? {} : { onPurpose: reasons.join('; ') }) };
}

/** Reasons, notes and stamps are worded otherwise. */
function compareEngine(line: GoldenLine): Comparison {
  const rounds = (line['rounds'] as { verdicts: Record<string, unknown>[] }[]).map(({ verdicts, ...round }) => ({
    ...Object.fromEntries(Object.entries(round).filter(([name]) => name !== 'verdict_stamp')),
    verdicts: verdicts.map(({ reason: _, ...verdict }) => verdict),
  }));
  const answer = answerEngineLine(line as unknown as EngineLine);
  return { expected: { rounds, replays_run: line['replays_run'] }, actual: { ...answer } };
}

export function compareEvalSet(line: GoldenLine): Comparison {
  const { steps, matching_newest_first: matching } = line as unknown as {
    steps: Record<string, unknown>[];
    matching_newest_first: unknown;
  };
  const right = steps.map(({ result, cases_after: after }) => ({ result, cases_after: after }));
  return {
    expected: { steps: right, matching_newest_first: matching },
    actual: { ...answerEvalSetLine(line as unknown as EvalSetLine) },
  };
}
