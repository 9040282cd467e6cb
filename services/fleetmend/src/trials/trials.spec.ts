import { describe, expect, it } from '@jest/globals';
import type { TrialView } from '#contracts';
import { trialPlot } from './plot.js';
import { chart, trialText } from './text.js';

const course = Array.from({ length: 20 }, (_, at) => ({
  seq: at + 1,
  at: at * 1_000,
  kind: 'session' as const,
  help: at * 0.15,
  harm: -at * 0.1,
}));
const trial = (more: Partial<TrialView> = {}): TrialView => ({
  ...{
    rule_id: 'r-1',
    started_at: 1_790_000_000_000_000,
    decided_at: null,
    verdict: 'pending',
    reason: 'trial_in_progress',
    source: null,
  },
  ...{ allocation: 0.5, bound: Math.log(20), bound_harm: Math.log(20), entered: 24, open: 3, waiting: 1 },
  evidence: { live: { help: 2.85, harm: -1.9 }, replay: { help: 0, harm: 0 }, total: { help: 2.85, harm: -1.9 } },
  sessions: { treatment: { sessions: 10, breached: 1 }, control: { sessions: 10, breached: 6 } },
  pairs: { counted: 0, inconclusive: {}, tape_share: null },
  effect: { live: 0.5, replay: null },
  interval: { low: 0.1, high: 0.8 },
  sample_ratio_mismatch: false,
  sessions_needed: 2,
  course,
  ...more,
});

describe('a trial for people', () => {
  it('says where it stands and what is missing', () => {
    const text = trialText(trial());
    expect(text).toContain('r-1: pending (trial_in_progress)');
    expect(text).toContain('E = 17.3 of 20.0');
    expect(text).toContain('with the rule: 1 of 10 breached (10 %); without: 6 of 10 breached (60 %)');
    expect(text).toContain('effect on the breach rate: +0.50 (between +0.10 and +0.80)');
    expect(text).toContain('at this pace about 2 more sessions decide');
  });
  it('says why pairs of replays say nothing, and how much came from tape', () => {
    const text = trialText(
      trial({
        pairs: { counted: 2, inconclusive: { candidate_not_exercised: 3 }, tape_share: 0.75 },
        effect: { live: null, replay: 0.4 },
      }),
    );
    expect(text).toContain(
      'replays: 2 pairs counted, 75 % of their tool calls from tape, mean gain +0.40; without a result: 3 candidate_not_exercised',
    );
    expect(text).toContain('effect on the breach rate: not known yet');
  });
  it('warns when the arms are not as large as they should be', () => {
    expect(trialText(trial({ sample_ratio_mismatch: true }))).toContain('! the arms');
    expect(trialText(trial())).not.toContain('! the arms');
  });
  it('draws the evidence against its bound, rising to it from the left', () => {
    const lines = chart(course, Math.log(20)).split('\n');
    expect(lines[0]).toMatch(/^ won │─+/);
    const columnOf = (line: string | undefined): number => line?.indexOf('•') ?? -1;
    expect(columnOf(lines.at(-1))).toBeLessThan(columnOf(lines[1]));
    expect(lines.at(-1)).toMatch(/^ E=1 │•/);
  });
  it('draws the same as SVG, both bets with their bounds', () => {
    const spec = trialPlot(trial());
    expect(spec.data).toEqual([{ name: 'course', values: course.map(({ seq, help, harm }) => ({ seq, help, harm })) }]);
    expect(spec.marks?.map(({ type }) => type)).toEqual(['line', 'line', 'rule', 'text', 'rule', 'text']);
  });
});
