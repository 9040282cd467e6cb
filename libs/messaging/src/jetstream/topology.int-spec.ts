import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { consumers, spansReceived, streams, subjectsOfStream, turnEnded } from '#contracts';
import { testNats, type TestNats } from '#testing';
import { applyTopology, consumerConfig } from './topology.js';

const ACK_WAIT_MS = 1_000;
const apply = (): Promise<string[]> => applyTopology(nc, { replicas: 1, ackWaitMs: ACK_WAIT_MS });
const SPANS = consumers.scoringSpans.durable;

let nats: TestNats;
let nc: NatsConnection;
let js: JetStreamClient;
let jsm: JetStreamManager;

/** As the version before had it: spans among the turns, with their consumer. */
beforeEach(async () => {
  nats = await testNats();
  nc = await nats.connect();
  [js, jsm] = [jetstream(nc), await jetstreamManager(nc)];
  await jsm.streams.delete('FM_SPANS');
  await jsm.streams.update('FM_TURNS', { subjects: [...subjectsOfStream('FM_TURNS'), spansReceived.pattern] });
  await jsm.consumers.add('FM_TURNS', consumerConfig(consumers.scoringSpans, ACK_WAIT_MS));
}, 60_000);

afterEach(() => nats.drop(), 30_000);

async function publish(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const marked = headers();
    marked.set('Nats-Msg-Id', `id-${n}`);
    await js.publish(spansReceived.subject('default'), String(n), { headers: marked });
  }
}

/** Messages in the hands of a process of the version before. */
async function take(most: number): Promise<JsMsg[]> {
  const taken: JsMsg[] = [];
  const consumer = await js.consumers.get('FM_TURNS', SPANS);
  for await (const message of await consumer.fetch({ max_messages: most, expires: 1_000 })) taken.push(message);
  return taken;
}

async function contents(stream: string): Promise<string[]> {
  const { state } = await jsm.streams.info(stream);
  const texts: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await jsm.streams.getMessage(stream, { seq }).catch(() => null);
    if (message !== null) texts.push(`${message.subject} ${message.string()} ${message.header.get('Nats-Msg-Id')}`.trim());
  }
  return texts;
}

describe('a deployment that had spans in the stream of turns', () => {
  it('has them in their own afterwards, with all that waited, and turns are left alone', async () => {
    await js.publish(turnEnded.subject('default'), 'turn');
    await publish(150);
    const changes = await apply();
    expect(changes).toEqual(
      expect.arrayContaining([
        'stream FM_TURNS changed: subjects',
        'stream FM_SPANS created',
        '150 messages spans.received moved from FM_TURNS to FM_SPANS',
        'consumer scoring-spans of FM_TURNS removed',
      ]),
    );
    const moved = await contents('FM_SPANS');
    expect(new Set(moved)).toEqual(new Set(Array.from({ length: 150 }, (_, n) => `fm.default.spans.received ${n} id-${n}`)));
    expect(moved).toHaveLength(150);
    expect(await contents('FM_TURNS')).toEqual(['fm.default.turn.ended turn']);
    expect((await jsm.consumers.info('FM_SPANS', SPANS)).num_pending).toBe(150);
    expect(await apply()).toEqual([]);
  }, 60_000);

  it('loses nothing when the move was broken off, whatever was done by then', async () => {
    await publish(3);
    await jsm.streams.update('FM_TURNS', { subjects: subjectsOfStream('FM_TURNS') });
    await apply();
    expect(await contents('FM_SPANS')).toHaveLength(3);
  }, 60_000);

  it('waits for what somebody has in hand, and takes it when it comes back', async () => {
    await publish(3);
    expect(await take(2)).toHaveLength(2);
    await apply();
    expect(await contents('FM_SPANS')).toHaveLength(3);
  }, 60_000);

  it('keeps the former consumer while somebody goes on working on a message', async () => {
    await publish(1);
    const [message] = await take(1);
    const working = setInterval(() => message?.working(), 200);
    expect(await apply()).toContain(
      '1 messages spans.received are being worked on in FM_TURNS: migrate again when that process has stopped',
    );
    clearInterval(working);
    message?.nak();
    expect(await apply()).toEqual([
      '1 messages spans.received moved from FM_TURNS to FM_SPANS',
      `consumer ${SPANS} of FM_TURNS removed`,
    ]);
  }, 60_000);

  it('refuses no turn while spans fill their stream', async () => {
    await apply();
    await jsm.streams.update('FM_SPANS', { max_msgs_per_subject: 2 });
    await publish(2);
    await expect(js.publish(spansReceived.subject('default'), 'one more')).rejects.toThrow(/maximum messages per subject/);
    await js.publish(turnEnded.subject('default'), 'turn');
    expect(streams.find(({ name }) => name === 'FM_SPANS')).toMatchObject({ kind: 'queue', maxMessagesPerSubject: 50_000 });
  }, 60_000);
});
