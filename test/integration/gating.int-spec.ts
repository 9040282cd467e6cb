import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Pipeline } from './pipeline.js';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await Pipeline.open();
});
afterEach(() => pipeline.close());

const reported = (): number => pipeline.of('.turn.evaluated').length;
const tierTwo = ({ subject }: { subject: string }): boolean => subject.endsWith('.tier.requested');

describe('a long session', () => {
  it('keeps the place of a turn that waits, however many turns come before its answer', async () => {
    await pipeline.scored('a', 0, { completion: 0.9 });
    await pipeline.scored('a', 1, { completion: 0.3, tool: 0.1 });
    for (let turn = 2; turn < 600; turn += 1) await pipeline.scored('a', turn, { completion: 0.9 });
    expect(reported()).toBe(1);
    await pipeline.settle(tierTwo);
    await pipeline.settle();
    expect(reported()).toBe(600);
    expect(await pipeline.db.query('SELECT t, status FROM mailbox.notices')).toEqual([{ t: 1, status: 'pending' }]);
    expect(await pipeline.db.query('SELECT last_t, blocked_t FROM gating.heads')).toEqual([{ last_t: 599, blocked_t: null }]);
    // Five hundred turns are kept for folding again: what comes in before them is stored, not folded.
    await pipeline.db.query(`DELETE FROM gating.turn_evals WHERE t = 50`);
    await pipeline.scored('a', 50, { completion: 0.1 });
    expect(await pipeline.db.query('SELECT folded, rev FROM gating.turn_evals WHERE t = 50')).toEqual([
      { folded: false, rev: 0 },
    ]);
    expect(await pipeline.db.query(`SELECT t FROM journal.events WHERE type = 'too_late'`)).toEqual([{ t: 50 }]);
    expect(reported()).toBe(600);
  });
});
