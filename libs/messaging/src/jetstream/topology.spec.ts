import { describe, expect, it } from '@jest/globals';
import { consumers, events, streams, subjectsOfStream } from '#contracts';
import { consumerConfig, differences, streamConfig } from './topology.js';

describe('the streams', () => {
  it.each(streams.map((stream) => [stream.name, stream] as const))(
    '%s is bounded, undeletable and listens to its subjects one by one',
    (_, stream) => {
      const config = streamConfig(stream, 1);
      expect(config.max_bytes).toBeGreaterThan(0);
      expect(config).toMatchObject({ deny_delete: true, deny_purge: true, allow_rollup_hdrs: false });
      expect(config.subjects?.length).toBeGreaterThan(0);
      expect(config.subjects?.every((subject) => !subject.endsWith('>'))).toBe(true);
      expect(config.discard).toBe(stream.kind === 'queue' ? 'new' : 'old');
    },
  );
  it('hold every event exactly once', () => {
    for (const event of events)
      expect(streams.filter(({ name }) => subjectsOfStream(name).includes(event.pattern)).map(({ name }) => name)).toEqual([
        event.stream,
      ]);
  });
  it('refuse a 50,001st waiting turn of a project instead of dropping one', () => {
    const turns = streams.find(({ name }) => name === 'FM_TURNS');
    expect(turns && streamConfig(turns, 1)).toMatchObject({
      max_msgs_per_subject: 50_000,
      discard_new_per_subject: true,
      discard: 'new',
      retention: 'workqueue',
    });
  });
  it('deliver without limit, and count by ourselves', () => {
    for (const contract of Object.values(consumers)) {
      expect(consumerConfig(contract, 10_000)).toMatchObject({
        max_deliver: -1,
        ack_policy: 'explicit',
        filter_subject: contract.event.pattern,
      });
    }
  });
  it('of one queue never share a subject between consumers, which the broker would refuse', () => {
    const queues = new Set(streams.filter(({ kind }) => kind === 'queue').map(({ name }) => name));
    const own = Object.values(consumers).filter(({ event }) => queues.has(event.stream));
    const filters = own.map(({ event }) => event.pattern);
    expect(new Set(filters).size).toBe(filters.length);
  });
});

describe('differences', () => {
  it.each([
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['a field that the server leaves out when it is zero', {}, { a: 0, b: false, c: null }, []],
    ['a changed field', { a: 1, b: 2 }, { a: 1, b: 3 }, ['b']],
    ['a changed list', { a: ['x'] }, { a: ['x', 'y'] }, ['a']],
    ['what only the server has', { a: 1, z: 9 }, { a: 1 }, []],
  ])('sees %s', (_, actual, wanted, expected) => {
    expect(differences(actual, wanted)).toEqual(expected);
  });
});
