import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { replayAdmission, type AdmitLine } from './admission/index.js';
import { answerCalibrateLine, withinTolerance, type CalibrateLine } from './calibration/index.js';
import { nextEpisodes, type EpisodesLine } from './episodes/index.js';
import { replayGate, type GateLine } from './gate/index.js';
import { replayNotices, type DedupLine } from './notices/index.js';

const DIR = '../shared/golden';

/** Every line of a golden file: an input and its answer in one object. Throws on an empty file, so that nothing passes on nothing. */
function lines<Line>(file: string): Line[] {
  const parsed = readFileSync(`${DIR}/${file}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  if (parsed.length < 20) throw new Error(`${file} holds only ${parsed.length} lines`);
  return parsed;
}

interface Outcomes {
  readonly kind: string;
  readonly outcomes: readonly Record<string, unknown>[];
}

// In CI the lent files are there; that they are missing must not pass for a skip.
const golden = existsSync(DIR) || process.env['CI'] === 'true' ? describe : describe.skip;
golden('golden answers (skipped where ../shared/golden is absent)', () => {
  it('gate: every line is equal', () => {
    for (const line of lines<GateLine & { verdicts: unknown }>('gate'))
      expect(replayGate(line)).toEqual({ verdicts: line.verdicts });
  });
  it('dedup: every line is equal, but for two fields of the seed that we do not have', () => {
    for (const line of lines<DedupLine & Outcomes>('dedup').filter(({ kind }) => kind === 'dedup')) {
      const expected = line.outcomes.map(({ dump_written: _dump, summary: _summary, ...rest }) => rest);
      expect(replayNotices(line)).toEqual({ outcomes: expected });
    }
  });
  it('admit: every line is equal', () => {
    for (const line of lines<AdmitLine & { kind: string; admitted: unknown; budget_skip_events: unknown }>('dedup').filter(
      ({ kind }) => kind === 'admit',
    )) {
      expect(replayAdmission(line)).toEqual({ admitted: line.admitted, budget_skip_events: line.budget_skip_events });
    }
  });
  it('episode: every line is equal', () => {
    for (const line of lines<EpisodesLine & { episodes: object }>('episode')) {
      expect(nextEpisodes({ ...line, sessions: Object.keys(line.episodes) })).toEqual({ episodes: line.episodes });
    }
  });
  it('calibrate: every line is equal, means and standard deviations within 1e-12', () => {
    for (const line of lines<CalibrateLine & ReturnType<typeof answerCalibrateLine>>('calibrate'))
      expect(withinTolerance(answerCalibrateLine(line).report, line.report)).toEqual(line.report);
  });
});
