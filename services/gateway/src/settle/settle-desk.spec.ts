import { describe, expect, it } from '@jest/globals';
import { ProblemError } from '../http/problem.js';
import type { AskedTurn, SeenState, SettledTurn, Settlements } from '../postgres/settlements.js';
import { SettleDesk, type SettleQuestion } from './settle-desk.js';

/** Tables that a test writes: which sessions are settled, and how often they were asked. */
class Tables {
  looks: number[] = [];
  settled = false;
  away = false;

  look(asked: readonly AskedTurn[]): Promise<SeenState[]> {
    this.looks.push(asked.length);
    if (this.away) return Promise.reject(new Error('the database is away'));
    return Promise.resolve(asked.map(({ t }) => ({ ...{ t, known: true, skipped: null, reported: this.settled }, ...REST })));
  }
  read(asked: readonly AskedTurn[]): Promise<SettledTurn[]> {
    return Promise.resolve(asked.map(() => ({ report: null, facts: null, run: null })));
  }
}
const REST = { noticed: true, run_ended: false, episodes: [] };

const open = (): { tables: Tables; desk: SettleDesk } => {
  const tables = new Tables();
  return { tables, desk: new SettleDesk(tables as unknown as Settlements) };
};
const question = (turn: number, timeoutS = 60): SettleQuestion => ({
  ...{ project: 'p', session: 's', turn, timeoutS },
  signal: new AbortController().signal,
});

describe('the settle desk', () => {
  it('asks the tables once for everybody who waits', async () => {
    const { tables, desk } = open();
    const all = Array.from({ length: 300 }, (_, turn) => desk.settle(question(turn)));
    tables.settled = true;
    const answers = await Promise.all(all);
    expect(answers.map(({ turn_index }) => turn_index)).toEqual(Array.from({ length: 300 }, (_, turn) => turn));
    expect(tables.looks.length).toBeLessThanOrEqual(2);
    expect(desk.size).toBe(0);
  });
  it('refuses more than it can hold, with 503, and takes the next when one has gone', async () => {
    const { desk } = open();
    const first = new AbortController();
    const waiting = [desk.settle({ ...question(0), signal: first.signal })];
    for (let turn = 1; turn < 2_000; turn += 1) waiting.push(desk.settle(question(turn)));
    expect(() => desk.settle(question(2_000))).toThrow(ProblemError);
    first.abort();
    expect(desk.size).toBe(1_999);
    waiting.push(desk.settle(question(2_000)));
    const ends = Promise.allSettled(waiting.slice(1));
    desk.onModuleDestroy();
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { problem: { status: 503 } } });
    expect(() => desk.settle(question(1))).toThrow('stopping');
  });
  it('waits on while the tables cannot be read, and says at the end of the time that they could not', async () => {
    const { tables, desk } = open();
    tables.away = true;
    const patient = desk.settle(question(1));
    await expect(desk.settle(question(2, 0.05))).rejects.toThrow('the database is away');
    tables.away = false;
    tables.settled = true;
    expect(await patient).toMatchObject({ turn_index: 1, timed_out: false });
  });
});
