import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { turnEnded } from '#contracts';
import { testNats, type TestNats } from '#testing';
import { JetStreamPublisher } from './publisher.js';

const MINUTE = 60_000;

describe('a message that is too large for the broker', () => {
  let nats: TestNats;
  beforeAll(async () => {
    nats = await testNats();
  }, MINUTE);
  afterAll(() => nats.drop(), MINUTE);

  it('fails for good, and the others of its batch are stored', async () => {
    const connection = await nats.connect('test');
    const publisher = new JetStreamPublisher(connection, 'test');
    const subject = turnEnded.subject('default');
    const large = 'x'.repeat(connection.info?.max_payload ?? 0) + 'x';
    const failures = await publisher.publish([
      { id: 'a', subject, data: '{}' },
      { id: 'b', subject, data: large },
      { id: 'c', subject: 'nobody.listens', data: '{}' },
      { id: 'd', subject, data: '{}' },
    ]);
    publisher.close();
    const byIndex = failures.sort((a, b) => a.index - b.index);
    expect(byIndex).toMatchObject([
      { index: 1, hopeless: true, full: false },
      { index: 2, hopeless: false, full: false },
    ]);
  });
});
