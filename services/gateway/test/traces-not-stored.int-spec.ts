import { afterEach, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { cuttable, eventually } from '#testing';
import { openGateway, type Fixture } from './fixture.js';
import { distinctSpans, postTraces, requestOf, spanOf, SpanStream } from './otlp.js';

const MIB = 1024 * 1024;

let fixture: Fixture;
const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  await fixture.close();
  for (const clean of cleanUp.splice(0)) await clean();
}, 30_000);

describe('a stream that is full', () => {
  it('is answered 503 with how many spans are stored; the same body again stores the rest and nothing twice', async () => {
    fixture = await openGateway();
    const stream = await SpanStream.open(fixture);
    const jsm = await jetstreamManager(await fixture.nats.connect());
    await jsm.streams.update('FM_SPANS', { max_msgs_per_subject: 2 });
    // Four traces of 300 KB: a message each.
    const body = requestOf(Array.from({ length: 12 }, (_, at) => spanOf(at % 4, at, 100_000)));
    const answer = await postTraces(fixture.url, body);
    expect(answer).toMatchObject({ status: 503, code: 14, retryAfter: '2' });
    expect(answer.message).toMatch(/^The stream is full .*; 6 spans of this body are stored\. Send it again/);
    expect(await stream.spansSince(0)).toHaveLength(6);
    expect((await fixture.call('GET', '/metrics')).text).toMatch(
      /fleetmend_otlp_spans_total\{outcome="refused",service="gateway"\} 6/,
    );
    await jsm.streams.update('FM_SPANS', { max_msgs_per_subject: 100 });
    expect(await postTraces(fixture.url, body)).toMatchObject({ status: 200, partial: undefined });
    expect(distinctSpans(await stream.spansSince(0))).toHaveLength(12);
  }, 60_000);
});

describe('a database that is away', () => {
  it('refuses only bodies with a span that it would have to keep', async () => {
    fixture = await openGateway();
    const stream = await SpanStream.open(fixture);
    const way = await cuttable(fixture.db.url);
    cleanUp.push(() => way.close());
    const { url } = await fixture.another({ database_url: way.url });
    expect((await postTraces(url, requestOf([spanOf(0, 0)]))).status).toBe(200);
    way.cut();
    expect((await postTraces(url, requestOf([spanOf(1, 0)]))).status).toBe(200);
    const large = requestOf([spanOf(2, 0), spanOf(2, 1, MIB)]);
    const before = await stream.last();
    expect(await postTraces(url, large)).toMatchObject({
      status: 503,
      retryAfter: '2',
      message: expect.stringMatching(/database.*0 spans of this body are stored/),
    });
    expect(await stream.since(before)).toEqual([]);
    way.mend();
    await eventually(async () => (await postTraces(url, large)).status === 200, 15_000);
    expect(distinctSpans(await stream.spansSince(before))).toHaveLength(2);
  }, 60_000);
});

describe('a body of 10,000 spans', () => {
  it('in one trace is stored whole', async () => {
    fixture = await openGateway();
    const stream = await SpanStream.open(fixture);
    const body = requestOf(Array.from({ length: 10_000 }, (_, at) => spanOf(0, at, 1_000)));
    expect(await postTraces(fixture.url, body)).toMatchObject({ status: 200, partial: undefined });
    const spans = await stream.spansSince(0);
    expect(new Set(spans.map(({ span_id: id }) => id)).size).toBe(10_000);
  }, 60_000);
});
