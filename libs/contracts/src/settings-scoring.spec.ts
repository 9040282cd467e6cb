import { describe, expect, it } from '@jest/globals';
import { processSettings, projectSettings } from './settings.js';

const problemsOf = (settings: object): string[] =>
  (projectSettings.safeParse(settings).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
const judge = (prompt: string, output: object = { kind: 'boolean' }) => ({
  metrics: { polite: { kind: 'judge', prompt, output } },
});

describe('settings that name metrics', () => {
  it.each([
    [
      { tier1_metrics: ['task_completion', 'politness'] },
      /^tier1_metrics\.1: unknown metric "politness"; known metrics: outcome_correct, task_completion/,
    ],
    [{ thresholds: { polite: 0.5 } }, /^thresholds\.polite: unknown metric/],
    [
      { gate_overrides: { 'politness@judge': { gate_target: 0.3 } } },
      /^gate_overrides\.politness@judge: unknown metric "politness"/,
    ],
    [{ evaluators: { polite: 'judge' } }, /^evaluators\.polite: unknown metric/],
    ...Object.getOwnPropertyNames(Object.prototype)
      .filter((name) => name !== '__proto__')
      .flatMap((name): [object, RegExp][] => [
        [{ evaluators: { [name]: 'check' } }, new RegExp(`^evaluators\\.${name}: unknown metric`)],
        [{ metrics: { [name]: { kind: 'host' } } }, new RegExp(`^metrics\\.${name}: the name of a metric is`)],
        [{ tier1_metrics: [name] }, new RegExp(`^tier1_metrics\\.0: unknown metric`)],
      ]),
    [{ tier2_metrics: ['outcome_correct'] }, /^tier2_metrics: outcome_correct is the verifier's/],
    [
      { evaluators: { coherence: 'judge' } },
      /^evaluators\.coherence: coherence cannot come from "judge"; it can from check, embedding, host/,
    ],
    [{ evaluators: { plan_quality: 'check' } }, /cannot come from "check"; it can from judge, host/],
    [{ metrics: { coherence: { kind: 'host' } } }, /^metrics\.coherence: "coherence" is a metric already/],
    [{ metrics: { 'a b': { kind: 'host' } } }, /^metrics\.a b: the name of a metric is a-z, 0-9 and _/],
    [{ metrics: { polite: { kind: 'host' } }, evaluators: { polite: 'host' } }, /who makes polite is said in metrics\.polite/],
    [{ metrics: { polite: { kind: 'webhook', url: 'ftp://x/y' } } }, /^metrics\.polite\.url/],
    [judge('Is {{anwser}} polite?'), /\{\{anwser\}\} is not known; there are \{\{request\}\}, \{\{answer\}\}/],
    [judge('Is it polite?'), /shows the judge nothing of the turn/],
    [judge('see {{answer'), /shows the judge nothing of the turn/],
    [judge('{{answer}}', { kind: 'score', min: -1e308, max: 1e308 }), /too far apart/],
    [judge('{{answer}}', { kind: 'choice', values: { ' ': 1, bad: 0 } }), /an answer to choose needs a name/],
    [{ metrics: { polite: { kind: 'webhook', url: 'https://u:pw@h/x' } } }, /^metrics\.polite\.url: holds a user or a password/],
    [{ metrics: { polite: { kind: 'webhook', url: 'https://u@h/x' } } }, /^metrics\.polite\.url: holds a user or a password/],
    [judge('{{answer}}', { kind: 'score', min: 1, max: 1 }), /smallest score must be less/],
    [judge('{{answer}}', { kind: 'choice', values: { good: 1 } }), /a choice has 2 to 20 answers/],
    [judge('{{answer}}', { kind: 'choice', values: { good: 1, bad: -1 } }), /metrics\.polite\.output\.values\.bad/],
  ])('%j are refused with what is wrong and what there is', (settings, message) => {
    expect(problemsOf(settings).join('\n')).toMatch(message);
  });

  it('may name metrics of their own, in any tier, with a threshold and gate settings', () => {
    const own = {
      ...judge('Is {{ answer }} polite?'),
      tier1_metrics: ['polite'],
      thresholds: { polite: 0.7 },
      gate_overrides: { 'polite@judge': { gate_target: 0.3 } },
    };
    expect(problemsOf(own)).toEqual([]);
  });

  it('are read in a time that does not grow with the square of a prompt', () => {
    // Found by review: an expression with two stretches of white space took 18 s for 4,000 blanks.
    expect(problemsOf(judge(`{{answer}}{{${' '.repeat(19_000)}`))).toEqual([]);
  });
});

describe('addresses of a process', () => {
  it.each(['judge_base_url', 'embedding_base_url', 'scores_out_url'])('hold no password: %s', (name) => {
    const problem = (url: string) => processSettings.safeParse({ [name]: url }).error?.issues.map(({ message }) => message);
    expect(problem('https://u:secret@h/v1')).toEqual(['holds a user or a password: give a key or a header instead']);
    expect(problem('ftp://h/v1')).toHaveLength(1);
    expect(problem('http://127.0.0.1:8000/v1')).toBeUndefined();
  });
});
