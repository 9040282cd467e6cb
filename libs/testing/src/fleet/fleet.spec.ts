import { describe, expect, it } from '@jest/globals';
import {
  failureModes,
  isFleetTask,
  judgeTurns,
  meaningOf,
  memoryRules,
  modeNames,
  noRules,
  replayTask,
  ruleText,
  runSession,
  type Effect,
  type FleetOptions,
  type FleetTurn,
  type ModeName,
  type RuleReader,
} from './index.js';

const effects: readonly Effect[] = ['helpful', 'placebo', 'harmful'];
const turnsOf = async (session: string, options: FleetOptions, rules: RuleReader = noRules): Promise<FleetTurn[]> => {
  const turns: FleetTurn[] = [];
  for await (const turn of runSession(session, rules, options)) turns.push(turn);
  return turns;
};
const alerts = (turns: readonly FleetTurn[]): string[] => judgeTurns(turns).flatMap(({ fired }) => fired);
const having = (mode: ModeName, effect: Effect): RuleReader =>
  memoryRules([{ id: 'r', scope: failureModes[mode].scope, text: `Learned: ${ruleText(mode, effect)}` }]);

const SESSIONS = 150;

/** Which of the sessions alert. */
async function alerting(options: FleetOptions, rules: RuleReader = noRules): Promise<string[]> {
  const found: string[] = [];
  for (let n = 0; n < SESSIONS; n += 1) {
    const turns = await turnsOf(`s${n}`, options, rules);
    if (alerts(turns).length > 0) found.push(`s${n}`);
  }
  return found;
}

describe('an agent of the fleet', () => {
  it.each(modeNames)('that fails by %s breaches its metric, through the real checks and the real gate', async (mode) => {
    const turns = await turnsOf('s', { seed: 1, rates: { [mode]: 1 } });
    expect(alerts(turns)).toEqual([`breach:${failureModes[mode].metric}`, 'regression:task_completion']);
  });

  it.each(modeNames)('that never fails by %s never alerts, in a long session', async (mode) => {
    const turns = await turnsOf('s', { seed: 1, rates: { [mode]: 0 }, tasks: 30 });
    expect(turns).toHaveLength(31);
    expect(alerts(turns)).toEqual([]);
    expect(
      judgeTurns(turns)
        .flatMap(({ scores }) => scores.filter(({ metric }) => metric === 'task_completion'))
        .map(({ value }) => value),
    ).toEqual(turns.map(() => 1));
  });

  it('recovers when its next task goes well', async () => {
    const rates = { misused_tool: 0.5 };
    const judged = judgeTurns(await turnsOf('s', { seed: 3, rates, tasks: 40 }));
    const failed = judged.filter(({ fired }) => fired.length > 0);
    expect(failed.length).toBeGreaterThan(5);
    expect(judged.filter(({ fired, standing }) => fired.length === 0 && standing.length > 0)).toEqual([]);
  });

  it('is the same for the same seed, and another for another', async () => {
    const options = { seed: 7, rates: { loop: 0.5, missing_argument: 0.5 }, tasks: 6 };
    expect(await turnsOf('s', options)).toEqual(await turnsOf('s', options));
    expect(await turnsOf('s', { ...options, seed: 8 })).not.toEqual(await turnsOf('s', options));
  });

  it('has its tasks from those that are named, and all of them', async () => {
    const turns = await turnsOf('s', { seed: 7, rates: { loop: 0, missing_argument: 0 }, tasks: 50 });
    expect(new Set(turns.slice(1).map(({ end_state: state }) => (state as { task: string }).task))).toEqual(
      new Set(['loop', 'missing_argument']),
    );
  });

  it.each(modeNames.flatMap((mode) => effects.map((effect): [ModeName, Effect] => [mode, effect])))(
    'that may fail by %s and reads a %s rule fails as often as that rule lets it',
    async (mode, effect) => {
      const share = { helpful: 0.25, placebo: 0.5, harmful: 0.75 }[effect];
      const options = { seed: 11, rates: { [mode]: 0.5 } };
      const before = await alerting(options);
      const after = await alerting(options, having(mode, effect));
      expect(Math.abs(before.length / SESSIONS - 0.5)).toBeLessThan(0.1);
      expect(Math.abs(after.length / SESSIONS - share)).toBeLessThan(0.1);
      // The same draws: a rule that helps only takes failures away, one that harms only adds some, and a placebo changes none.
      const [fewer, more] = effect === 'harmful' ? [before, after] : [after, before];
      expect(fewer.filter((session) => !more.includes(session))).toEqual([]);
      if (effect === 'placebo') expect(after).toEqual(before);
    },
  );

  it('is changed only by rules that it came to: of the scope of its task, or found by searching', async () => {
    const options: FleetOptions = { seed: 1, rates: { loop: 1 }, factors: { helpful: 0, placebo: 1, harmful: 1 } };
    const helpful = ruleText('loop', 'helpful');
    const elsewhere = memoryRules([{ id: 'r', scope: 'refunds', text: helpful }]);
    expect(alerts(await turnsOf('s', options, elsewhere))).not.toEqual([]);
    expect(alerts(await turnsOf('s', options, having('loop', 'helpful')))).toEqual([]);
    const searching: FleetOptions = { ...options, reading: 'search' };
    expect(
      alerts(await turnsOf('s', searching, memoryRules([{ id: 'r', scope: 'refunds', text: `help pages: ${helpful}` }]))),
    ).toEqual([]);
  });

  it('tells which rules it has read', async () => {
    const turns = await turnsOf('s', { seed: 1, rates: { loop: 1 } }, having('loop', 'placebo'));
    expect(turns.map(({ rules_read: read }) => read)).toEqual([undefined, ['r']]);
  });

  it('does a task again from its end state, with a draw of its own per session', async () => {
    const options: FleetOptions = { seed: 5, rates: { misused_tool: 0.5 } };
    const [, { end_state: state } = { end_state: null }] = await turnsOf('s', options);
    if (!isFleetTask(state)) throw new Error('the end state is no task');
    const names = Array.from({ length: 200 }, (_, n) => `replay-${n}`);
    const failed = (turn: FleetTurn): boolean => turn.traces?.[0]?.spans?.some(({ status }) => status === 'ERROR') ?? false;
    const runs = await Promise.all(names.map((name) => replayTask(name, state, noRules, options)));
    expect(Math.abs(runs.filter(failed).length / 200 - 0.5)).toBeLessThan(0.1);
    const helped = await Promise.all(names.map((name) => replayTask(name, state, having('misused_tool', 'helpful'), options)));
    expect(helped.filter(failed).length).toBeLessThan(runs.filter(failed).length);
    expect(isFleetTask({ task: 'other', order: 1 })).toBe(false);
  });
});

describe('a rule of the fleet', () => {
  it('means what it was made for, whatever is written around it', () => {
    for (const mode of modeNames)
      for (const effect of effects)
        expect(meaningOf(`Rule: ${ruleText(mode, effect)} (learned)`)).toEqual(effect === 'placebo' ? null : { mode, effect });
  });
});
