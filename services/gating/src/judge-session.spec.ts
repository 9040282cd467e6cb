import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { projectSettings, type Score, type TraceScored } from '#contracts';
import { gateConfig, untouched } from '#domain/gate';
import { judgeSession, type Answer, type KnownSession, type StoredTurn } from './judge-session.js';

const configs = new Map([['c', gateConfig(projectSettings.parse({ gate_window: 2 }))]]);
const score = (metric: string, value: number): Score => ({
  ...{
    metric,
    value,
    status: 'scored',
    trace_id: 't',
    source: 'check',
    evaluator: 'check/1',
    reason: null,
    code: null,
    spans: [],
  },
});
const answer = (turn: number, tier: TraceScored['tier'], value: number, more: Partial<Answer> = {}): Answer => ({
  ...{
    session_id: 's',
    turn_index: turn,
    tier,
    answer: 1,
    accepted_at: turn,
    config: 'c',
    signals: [],
    pending: false,
    partial: false,
    skipped: null,
  },
  scores: [score(tier === 1 ? 'task_completion' : 'tool_correctness', value)],
  ...more,
});

/** A session kept in memory as the tables keep it; answers are given in batches. */
class Desk {
  rows = new Map<number, StoredTurn & { decided: boolean }>();
  head = untouched;
  lastTurn = -1;
  blocked: number | null = null;
  asked: string[] = [];
  published: string[] = [];

  give(batch: readonly Answer[]): void {
    const first = Math.min(...batch.map(({ turn_index }) => turn_index), this.blocked ?? Infinity);
    const sorted = [...this.rows.values()].sort((a, b) => a.t - b.t);
    const late = first <= this.lastTurn;
    const before = sorted.filter(({ t, decided }) => t < first && decided).at(-1)?.state ?? untouched;
    const known = {
      session: 's',
      lastTurn: this.lastTurn,
      before: late ? before : this.head,
      turns: late ? sorted.filter(({ t }) => t >= first) : [],
      horizon: null,
    };
    const verdict = judgeSession(known, batch, configs);
    if (verdict === null) return;
    this.head = verdict.head;
    this.lastTurn = verdict.lastTurn;
    this.blocked = verdict.blocked;
    for (const { decision, request, ...row } of verdict.rows) {
      const decided = decision !== null || this.rows.get(row.t)?.decided === true;
      const said = decision === null ? {} : { state: decision.after, revision: decision.revision, digest: decision.digest };
      this.rows.set(row.t, { ...row, ...said, decided });
      for (const tier of request) this.asked.push(`${row.t}:${tier}`);
      if (decision?.publish) this.published.push(`${row.t}:${decision.revision}`);
    }
  }

  get state() {
    return {
      head: this.head,
      blocked: this.blocked,
      rows: [...this.rows.values()].sort((a, b) => a.t - b.t).map(({ t, state, evidence }) => ({ t, state, evidence })),
    };
  }
}

describe('judging a session', () => {
  it('ignores what it knows: the same answer twice publishes nothing twice', () => {
    const desk = new Desk();
    desk.give([answer(0, 1, 0.9), answer(0, 1, 0.9)]);
    desk.give([answer(0, 1, 0.1)]);
    expect(desk.published).toEqual(['0:1']);
  });
  it('takes the higher answer of a tier', () => {
    const desk = new Desk();
    desk.give([answer(0, 1, 0.9)]);
    desk.give([answer(0, 1, 0.8, { answer: 2 })]);
    desk.give([answer(0, 1, 0.1)]);
    expect(desk.published).toEqual(['0:1', '0:2']);
    expect(desk.rows.get(0)?.evidence[1]?.answer).toBe(2);
  });
  it('decides nothing after a turn that waits for a tier, and all of it when the tier has answered', () => {
    const desk = new Desk();
    desk.give([answer(0, 1, 0.9)]);
    desk.give([answer(1, 1, 0.3), answer(2, 1, 0.3), answer(3, 1, 0.9)]);
    expect(desk).toMatchObject({ blocked: 1, asked: ['1:2'], published: ['0:1'] });
    desk.give([answer(1, 2, 0.1)]);
    expect(desk).toMatchObject({ blocked: 2, asked: ['1:2', '2:2'], published: ['0:1', '1:1'] });
    desk.give([answer(2, 2, 0.1)]);
    expect(desk).toMatchObject({ blocked: null, published: ['0:1', '1:1', '2:1', '3:1'] });
  });
  it('is not held up by a turn whose tier 1 has not come', () => {
    const desk = new Desk();
    desk.give([answer(0, 0, 1)]);
    desk.give([answer(1, 1, 0.9)]);
    expect(desk).toMatchObject({ blocked: null, published: ['1:1'] });
    desk.give([answer(0, 1, 0.9)]);
    expect(desk.published).toEqual(['1:1', '0:1']);
  });
  it('keeps a turn that comes before the horizon as a fact, and says that it was too late', () => {
    const known: KnownSession = { session: 's', lastTurn: 900, before: untouched, turns: [], horizon: 400 };
    const verdict = judgeSession(known, [answer(3, 1, 0.9)], configs);
    expect(verdict).toMatchObject({ tooLate: [3], lastTurn: 900, rows: [{ t: 3, folded: false, decision: null }] });
  });
  it('ends the same for any order, repetition and cutting into batches, and asks for no tier twice', () => {
    const value = fc.integer({ min: 0, max: 20 }).map((n) => n / 20);
    const answers = fc
      .array(fc.tuple(value, value), { minLength: 1, maxLength: 12 })
      .map((turns) => turns.flatMap(([one, two], t) => [answer(t, 1, one), answer(t, 2, two)]));
    fc.assert(
      fc.property(
        answers.chain((all) =>
          fc.tuple(
            fc.constant(all),
            fc.shuffledSubarray([...all, ...all], { minLength: all.length, maxLength: 2 * all.length }),
            fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }),
          ),
        ),
        ([all, shuffled, sizes]) => {
          const clean = new Desk();
          for (const one of all) clean.give([one]);
          const desk = new Desk();
          const given = [...shuffled, ...all];
          for (let at = 0, round = 0; at < given.length; round += 1) {
            const size = sizes[round % sizes.length] ?? 1;
            desk.give(given.slice(at, at + size));
            at += size;
          }
          expect(desk.state).toEqual(clean.state);
          expect(new Set(desk.asked).size).toBe(desk.asked.length);
          expect(new Set(desk.published).size).toBe(desk.published.length);
        },
      ),
    );
  });
});
