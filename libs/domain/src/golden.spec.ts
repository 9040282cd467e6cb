import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { replayAdmission } from './admission/index.js';
import { nextEpisodes } from './episodes/index.js';
import { replayGate } from './gate/index.js';
import { replayNotices } from './notices/index.js';

const lines = (file: string): Record<string, any>[] =>
  readFileSync(`../shared/golden/${file}.jsonl`, 'utf8').trim().split('\n').map((line) => JSON.parse(line));

const golden = existsSync('../shared/golden') ? describe : describe.skip;
golden('golden answers (skipped where ../shared/golden is absent)', () => {
  it('gate: every line is equal', () => {
    for (const line of lines('gate')) expect(replayGate(line as never)).toEqual({ verdicts: line['verdicts'] });
  });
  it('dedup: every line is equal', () => {
    for (const line of lines('dedup').filter(({ kind }) => kind === 'dedup')) {
      const expected = line['outcomes'].map(({ dump_written, summary, ...rest }: Record<string, unknown>) => rest);
      expect({ note: line['note'], ...replayNotices(line as never) }).toEqual({ note: line['note'], outcomes: expected });
    }
  });
  it('admit: every line is equal', () => {
    for (const line of lines('dedup').filter(({ kind }) => kind === 'admit')) {
      expect(replayAdmission(line as never)).toEqual({ admitted: line['admitted'], budget_skip_events: line['budget_skip_events'] });
    }
  });
  it('episode: every line is equal', () => {
    for (const line of lines('episode')) expect(nextEpisodes({ ...line, sessions: Object.keys(line['episodes']) } as never)).toEqual({ episodes: line['episodes'] });
  });
});
