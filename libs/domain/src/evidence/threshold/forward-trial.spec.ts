import { describe, expect, it } from '@jest/globals';
import {
  baselineOf,
  baselineRate,
  forwardVerdict,
  noTrial,
  observeReport,
  type ForwardTrial,
  type SessionReport,
} from './forward-trial.js';

const settings = { rule_trial_min_sessions: 5, rule_promote_margin: 0.05 };
const observe = (reports: readonly SessionReport[], metric: string | null, most = 5) =>
  reports.reduce((trial: ForwardTrial, report) => observeReport(trial, report, metric, most), noTrial);
const report = (session: string, ...signatures: string[]): SessionReport => ({ session, signatures });

describe('the forward trial of method threshold', () => {
  it.each([
    [0, 0, 1, 'pending'],
    [4, 0, 1, 'pending'],
    [5, 0, 0, 'promote'],
    [5, 1, 0.8, 'promote'],
    [5, 3, 0.5, 'retire'],
    [5, 5, 1, 'retire'],
  ])('of %p sessions with %p breached, against a rate of %p, is %s', (observed, breached, baseline, outcome) => {
    expect(forwardVerdict({ observed, breached }, baseline, settings)).toMatchObject({ outcome });
  });

  it('says how many sessions it waits for', () => {
    expect(forwardVerdict({ observed: 2, breached: 0 }, 1, settings).reason).toContain('2 of 5');
  });

  it('counts a session once, and only breaches of the metric', () => {
    const reports = [report('a'), report('a', 'breach:coherence'), report('b', 'stall:task_completion'), report('a')];
    expect(observe(reports, 'coherence')).toEqual({ observed: ['a', 'b'], breached: ['a'] });
    expect(observe(reports, null)).toEqual({ observed: ['a', 'b'], breached: ['a', 'b'] });
  });

  it('takes no new session once it has enough, but a known one may still turn out breached', () => {
    const reports = [report('a'), report('b'), report('c', 'breach:x'), report('a', 'breach:x')];
    expect(observe(reports, 'x', 2)).toEqual({ observed: ['a', 'b'], breached: ['a'] });
  });
});

describe('the rate before a rule', () => {
  it('is the share of the sessions with events, over the newest 200, and 1 without any', () => {
    const event = (session_id: string, ...signatures: string[]) => ({ session_id, signatures });
    const old = Array.from({ length: 200 }, (_, at) => event(`old-${at}`, 'breach:x'));
    const recent = Array.from({ length: 200 }, (_, at) => event(`s-${at % 4}`, at % 4 === 0 ? 'breach:x' : 'breach:y'));
    const baseline = baselineOf([...old, ...recent], 'x');
    expect(baseline).toEqual({ baseline_sessions: 4, baseline_breached_sessions: 1, baseline_window: 200 });
    expect(baselineRate(baseline)).toBe(0.25);
    expect(baselineRate(baselineOf([], 'x'))).toBe(1);
  });
});
