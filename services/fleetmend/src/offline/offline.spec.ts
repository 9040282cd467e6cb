import { describe, expect, it } from '@jest/globals';
import { answerEpisodesLine } from './episodes.js';
import { answerGateLine } from './gate.js';
import { answerNoticeLine } from './notices.js';
import { answerSanitize } from './sanitize.js';

describe('gate replay', () => {
  const values = [0.2, 0.2, 0.2];
  it('takes flags where a line has no setting of its own', () => {
    const stalls = (line: unknown): boolean[] => answerGateLine({ gate_window: 2 })(line).verdicts.map(({ stalled }) => stalled);
    expect(stalls({ values })).toEqual([false, false, true]);
    expect(stalls({ values, config: { gate_window: 1 } })).toEqual([false, true, true]);
  });

  it.each<[unknown, string]>([
    [[1], 'one JSON object'],
    [{}, 'values: a list'],
    [{ values: [1, 'x'] }, 'values.1: a number'],
    [{ values, config: { gate_windo: 1 } }, 'config.gate_windo: not a setting'],
    [{ values, config: { gate_window: '1' } }, 'config.gate_window: a number'],
  ])('refuses %j', (line, reason) => {
    expect(() => answerGateLine({})(line)).toThrow(reason);
  });
});

describe('notice dedup', () => {
  it('answers both kinds', () => {
    const turns = [{ session: 's', t: 0, signatures: ['breach:x'] }];
    expect(answerNoticeLine({ turns })).toMatchObject({ outcomes: [{ posted: true }] });
    expect(answerNoticeLine({ kind: 'admit', turns })).toEqual({ admitted: [true], budget_skip_events: 0 });
    expect(() => answerNoticeLine({ kind: 'other', turns })).toThrow('neither');
    expect(() => answerNoticeLine({ turns: [{ session: 's', t: 'x', signatures: [] }] })).toThrow('turns.0.t');
  });
});

describe('episodes group', () => {
  it('lists sessions without notices when they are named, also by a golden answer', () => {
    const none = { notice_ids: [], episode_id: null, recommended_scope: null };
    expect(answerEpisodesLine({ notices: [], sessions: ['a'] })).toEqual({ episodes: { a: none } });
    expect(answerEpisodesLine({ notices: [], episodes: { b: {} } })).toEqual({ episodes: { b: none } });
    expect(() => answerEpisodesLine({ notices: [{}] })).toThrow('notices.0.id');
  });
});

describe('sanitize', () => {
  it('sanitises without a kind', () => {
    expect(answerSanitize({ input: 'a\u001b[31mb' })).toEqual({ output: 'ab' });
    expect(() => answerSanitize({})).toThrow('input');
    expect(() => answerSanitize({ kind: 'other', input: '' })).toThrow('other');
  });
});
