import { replayAdmission, type AdmitLine } from '#domain/admission';
import { answerCalibrateLine, withinTolerance, type CalibrateLine } from '#domain/calibration';
import { nextEpisodes, type EpisodesLine } from '#domain/episodes';
import { replayGate, type GateLine } from '#domain/gate';
import { replayNotices, type DedupLine } from '#domain/notices';
import { answerSanitizeLine, type SanitizeLine } from '#domain/text';
import type { Compare, Comparison, GoldenLine } from './comparison.js';
import { compareNovelty, compareScope, compareSearch } from './rules.js';
import { compareEvalSet, evidenceKinds, verdictKinds } from './validation.js';

/** Shown in the golden file for understanding; other code than ours decides them. */
const NOT_COMPARED = ['dump_written', 'summary'];

function compareGate(line: GoldenLine): Comparison {
  return { expected: { verdicts: line['verdicts'] }, actual: { ...replayGate(line as unknown as GateLine) } };
}

function compareDedup(line: GoldenLine): Comparison {
  const outcomes = (line['outcomes'] as Record<string, unknown>[]).map((outcome) =>
    Object.fromEntries(Object.entries(outcome).filter(([name]) => !NOT_COMPARED.includes(name))),
  );
  return { expected: { outcomes }, actual: { ...replayNotices(line as unknown as DedupLine) } };
}

function compareAdmit(line: GoldenLine): Comparison {
  const expected = { admitted: line['admitted'], budget_skip_events: line['budget_skip_events'] };
  return { expected, actual: { ...replayAdmission(line as unknown as AdmitLine) } };
}

function compareEpisode(line: GoldenLine): Comparison {
  const expected = { episodes: line['episodes'] as Record<string, unknown> };
  // A session without notices is listed too, and only the answer names it.
  const asked = { ...line, sessions: Object.keys(expected.episodes) } as unknown as EpisodesLine;
  return { expected, actual: { ...nextEpisodes(asked) } };
}

function compareSanitize(line: GoldenLine): Comparison {
  const expected = 'once' in line ? { once: line['once'], output: line['output'] } : { output: line['output'] };
  return { expected, actual: { ...answerSanitizeLine(line as unknown as SanitizeLine) } };
}

/** Means and standard deviations depend on the order of summing: equal within the tolerance is equal. */
function compareCalibrate(line: GoldenLine): Comparison {
  const { report } = answerCalibrateLine(line as unknown as CalibrateLine);
  const expected = { report: line['report'] };
  return { expected, actual: { report: withinTolerance(report, expected.report as typeof report) } };
}

const always = (compare: Compare) => (): Compare => compare;

/** Per golden file: how a line of a kind is compared; undefined for a kind that is not built yet. */
export const files: Readonly<Record<string, (kind: string) => Compare | undefined>> = {
  gate: always(compareGate),
  dedup: (kind) => ({ dedup: compareDedup, admit: compareAdmit })[kind],
  episode: always(compareEpisode),
  sanitize: always(compareSanitize),
  scope: always(compareScope),
  novelty: always(compareNovelty),
  search: always(compareSearch),
  calibrate: always(compareCalibrate),
  evidence: (kind) => evidenceKinds[kind],
  verdict: (kind) => verdictKinds[kind],
  evalset: always(compareEvalSet),
};
