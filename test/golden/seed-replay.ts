import { isDeepStrictEqual } from 'node:util';
import { answerReplayLine, chosenCases, type ReplayLine } from '#domain/evidence';

/** What the seed does in a replay that we do not, on purpose (golden README). */
const HABITS = {
  failure_is_no_start: 'a replay that raises, hangs or cannot be scored is inconclusive, not waiting for its environment',
  sticky_read: 'whether the candidate was read is asked per case, not once per validation',
  zero_margin: 'a margin of 0 does not call an unchanged score a regression',
} as const;
type Habit = keyof typeof HABITS;
const ALL = Object.keys(HABITS) as Habit[];

type Answer = ReturnType<typeof answerReplayLine>;

/** Our answer to a replay line, with some of the seed's habits. */
export function answerWith(habits: readonly Habit[], line: ReplayLine): Answer {
  let changed = line;
  if (habits.includes('failure_is_no_start')) changed = withoutStarts(changed);
  if (habits.includes('sticky_read')) changed = withStickyReads(changed);
  const answer = answerReplayLine(changed);
  if (!habits.includes('zero_margin') || line.config.rule_regress_margin !== 0) return answer;
  return { ...answerReplayLine(withTinyFalls(changed)), case_outcomes: answer.case_outcomes };
}

export interface SeedDifference {
  readonly seed: Answer;
  readonly ours: Answer;
  /** The habits without which the seed would answer something else. */
  readonly reasons: readonly string[];
}

/** Both answers, and why they differ: every habit without which the seed's would change. */
export function compareWithSeed(line: ReplayLine): SeedDifference {
  const [seed, ours] = [answerWith(ALL, line), answerReplayLine(line)];
  const missed = ALL.filter((habit) => !isDeepStrictEqual(answerWith(without(habit), line), seed));
  return { seed, ours, reasons: missed.map((habit) => HABITS[habit]) };
}

function without(habit: Habit): Habit[] {
  return ALL.filter((one) => one !== habit);
}

type LineCase = ReplayLine['cases'][number];

function mapReplays(line: ReplayLine, change: (one: LineCase) => Partial<LineCase['replay']>): ReplayLine {
  return { ...line, cases: line.cases.map((one) => ({ ...one, replay: { ...one.replay, ...change(one) } })) };
}

function withoutStarts(line: ReplayLine): ReplayLine {
  return mapReplays(line, ({ replay }) => (replay.result === 'ok' ? {} : { result: 'not_started' }));
}

/** From the first read on, in the order of the replays, every case counts as read. */
function withStickyReads(line: ReplayLine): ReplayLine {
  const order = chosenCases(line.rule, line.cases);
  const first = order.findIndex(({ replay }) => replay.reads);
  const later = new Set(first < 0 ? [] : order.slice(first).map(({ id }) => id));
  return mapReplays(line, ({ id, replay }) => ({ reads: replay.reads || later.has(id) }));
}

/** Baselines one ulp up: an unchanged score has then fallen, by nothing that could be seen. */
function withTinyFalls(line: ReplayLine): ReplayLine {
  const up = (value: number): number => value * (1 + Number.EPSILON);
  return {
    ...line,
    cases: line.cases.map((one) => ({
      ...one,
      baseline_scores: Object.fromEntries(Object.entries(one.baseline_scores).map(([metric, value]) => [metric, up(value)])),
    })),
  };
}
