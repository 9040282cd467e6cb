import { describe, expect, it } from '@jest/globals';
import type { RegressionCase, RegressionReport } from '#contracts';
import { junitOf } from './junit.js';
import { isClean, reportText, runsText } from './text.js';

const one = (more: Partial<RegressionCase>): RegressionCase => ({
  ...{ case_id: 'c-1', kind: 'win', repetition: 1, status: 'unchanged', reason: null, deltas: {} },
  ...more,
});
const report = (cases: RegressionCase[], more: Partial<RegressionReport> = {}): RegressionReport => ({
  ...{ id: 'g-1', state: 'done', requested_by: 'loopback', k: 1, set_version: 3, rules_version: 7 },
  ...{ created_at: 1_790_000_000_000_000, ended_at: 1_790_000_002_500_000, runs: cases.length, done: cases.length },
  ...{ counts: { unchanged: 1 }, pass_at_k: 1, cases },
  ...more,
});
const fallen = one({ case_id: 'c-2', status: 'regressed', deltas: { coherence: -0.1, tool_correctness: -0.62 } });
const skipped = one({ case_id: 'c-3', status: 'skipped', reason: 'no_replay_input' });

describe('a regression report', () => {
  it('says what changed, the largest first, and ends with what it comes to', () => {
    const text = reportText(
      report([one({}), fallen, skipped], { counts: { unchanged: 1, regressed: 1, skipped: 1 }, pass_at_k: 0.5 }),
    );
    expect(text).toMatch(/c-2 +win +1 +regressed +tool_correctness -0\.62, coherence -0\.10/);
    expect(text).toMatch(/c-3 .* no_replay_input/);
    expect(text).toContain('g-1: 0 improved, 1 unchanged, 1 regressed, 1 skipped, pass^1 50.0 %');
    expect(text.endsWith('REGRESSED')).toBe(true);
  });
  it('of a run under way says so', () => {
    expect(reportText(report([one({ status: null })], { state: 'running' })).endsWith('RUNNING')).toBe(true);
  });
  it('is clean without a regressed case', () => {
    expect(isClean(report([one({}), skipped]))).toBe(true);
    expect(isClean(report([fallen], { counts: { regressed: 1 } }))).toBe(false);
  });
  it('says how to begin when there is none', () => {
    expect(runsText([])).toContain('fleetmend regress run');
  });
});

describe('JUnit', () => {
  it('has a failure for what regressed, and what could not be run as skipped', () => {
    const text = junitOf(report([one({}), fallen, skipped]));
    expect(text).toContain('tests="3" failures="1" errors="0" skipped="1" time="2.500"');
    expect(text).toContain(
      '<testcase classname="win" name="c-2 run 1"><failure message="{&quot;coherence&quot;:-0.1,&quot;tool_correctness&quot;:-0.62}"/></testcase>',
    );
    expect(text).toContain('<testcase classname="win" name="c-3 run 1"><skipped message="no_replay_input"/></testcase>');
  });
  it('holds whatever an id holds', () => {
    expect(junitOf(report([one({ case_id: 'a<b>&"\u0000' })]))).toContain('name="a&lt;b&gt;&amp;&quot;\uFFFD run 1"');
  });
});
