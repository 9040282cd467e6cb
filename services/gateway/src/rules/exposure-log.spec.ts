import { describe, expect, it } from '@jest/globals';
import type { OutgoingMessage, PublishFailure } from '#messaging';
import { ExposureLog, type ExposedRead } from './exposure-log.js';

const read = (session: string): ExposedRead => ({
  ...{ project: 'shop', session, turn: 3, kind: 'read', version: 7, now: 1_790_000_000_000 },
  exposure: { rule_ids: ['r-1'], withheld_ids: ['r-2'] },
});

/** A log whose publisher answers what `fail` says of a batch. */
function logWith(fail: (messages: readonly OutgoingMessage[]) => PublishFailure[], isThere = true) {
  const batches: OutgoingMessage[][] = [];
  const troubles: (string | null)[] = [];
  const publish = (messages: readonly OutgoingMessage[]) => {
    batches.push([...messages]);
    return Promise.resolve(fail(messages));
  };
  const log = new ExposureLog({ publish }, { isThere }, (trouble) => void troubles.push(trouble));
  return { log, batches, troubles };
}
const failure = (index: number): PublishFailure => ({ index, reason: 'full', full: true, hopeless: false });

describe('the exposure log', () => {
  it('publishes reads that happen at once together, each under an id of its own', async () => {
    const { log, batches, troubles } = logWith(() => []);
    expect(await Promise.all(['a', 'b', 'c'].map((session) => log.record(read(session))))).toEqual([true, true, true]);
    expect(await log.record(read('d'))).toBe(true);
    expect(batches.map(({ length }) => length)).toEqual([3, 1]);
    const [first] = batches[0] ?? [];
    expect(first?.subject).toBe('fm.shop.rule.exposed');
    expect(JSON.parse(String(first?.data))).toEqual({
      ...{ read_id: first?.id, session_id: 'a', turn_index: 3, kind: 'read', version: 7 },
      ...{ rule_ids: ['r-1'], withheld_ids: ['r-2'], at: 1_790_000_000_000_000 },
    });
    expect(new Set(batches.flat().map(({ id }) => id)).size).toBe(4);
    expect(troubles).toEqual([null, null]);
  });

  it('says of each whether it is stored', async () => {
    const { log, troubles } = logWith(() => [failure(1)]);
    expect(await Promise.all(['a', 'b', 'c'].map((session) => log.record(read(session))))).toEqual([true, false, true]);
    expect(troubles).toEqual([expect.stringContaining('full')]);
  });

  it('asks nothing of a broker that is away', async () => {
    const { log, batches, troubles } = logWith(() => [], false);
    expect(await log.record(read('a'))).toBe(false);
    expect([batches, troubles]).toEqual([[], [expect.stringContaining('away')]]);
  });
});
