import { describe, expect, it } from '@jest/globals';
import { connect } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { eventually } from '#testing';
import { openGateway, turn } from './fixture.js';
import { distinctSpans, postTraces, protobufOf, requestOf, spanOf } from './otlp.js';
import { PROTOBUF, spanGateway } from './span-gateway.js';
import { insertKey } from './rows.js';

const MIB = 1024 * 1024;
const GZIP = { 'content-encoding': 'gzip' };
const INVALID_ARGUMENT = 3;

const { open, stream, post } = spanGateway();

describe('a body that is no OTLP', () => {
  const good = JSON.stringify(requestOf([spanOf(0, 0)]));
  const zipped = gzipSync(good);
  it.each<[string, string | Uint8Array, Record<string, string>]>([
    ['text', 'hello', {}],
    ['JSON that was cut off', good.slice(0, -9), {}],
    ['JSON that is a list', '[]', {}],
    ['JSON that is null', 'null', {}],
    ['JSON without a list where one belongs', '{"resourceSpans": {}}', {}],
    ['nothing, as JSON', '', {}],
    ['protobuf that was cut off', protobufOf(requestOf([spanOf(0, 0)])).slice(0, -5), PROTOBUF],
    ['JSON that is called protobuf', good, PROTOBUF],
    ['random bytes that are called protobuf', Buffer.alloc(500, 0xab), PROTOBUF],
    ['gzip that was cut off', zipped.subarray(0, -10), GZIP],
    ['gzip with a wrong byte', Buffer.from(zipped).fill(0, 30, 40), GZIP],
    ['text that is called gzip', good, GZIP],
  ])('is answered 400, not to be sent again, with why, in its own encoding: %s', async (_, body, headers) => {
    const before = await stream.last();
    const answer = await post(body, headers);
    expect(answer).toMatchObject({
      status: 400,
      code: INVALID_ARGUMENT,
      type: headers['content-type'] ?? 'application/json',
      retryAfter: null,
    });
    expect(answer.message?.length).toBeGreaterThan(20);
    expect(await stream.since(before)).toEqual([]);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/grpc', 'x'])(
    'of the content type %s is answered 415 with what to send',
    async (type) => {
      expect(await post(good, { 'content-type': type })).toMatchObject({
        status: 415,
        type: 'application/json',
        message: expect.stringMatching(/application\/x-protobuf|Unsupported/i),
      });
    },
  );

  it('of an unknown content encoding is answered 415 with those that are known', async () => {
    expect(await post(good, { ...PROTOBUF, 'content-encoding': 'zstd' })).toMatchObject({
      status: 415,
      type: 'application/x-protobuf',
      message: expect.stringContaining('gzip'),
    });
  });
});

describe('a large body', () => {
  const padded = (bytes: number): Buffer => {
    const json = JSON.stringify(requestOf([spanOf(1, 0)]));
    return Buffer.concat([Buffer.from(json), Buffer.alloc(bytes - json.length, 0x20)]);
  };

  it('of 64 MiB is taken', async () => {
    expect(await post(padded(64 * MIB))).toMatchObject({ status: 200, partial: undefined });
  }, 60_000);

  it('of 64 MiB and a byte is answered 413, and others go through meanwhile', async () => {
    const [large, small] = await Promise.all([post(padded(64 * MIB + 1)), post(requestOf([spanOf(2, 0)]))]);
    expect(large).toMatchObject({ status: 413, retryAfter: null, message: expect.stringContaining('64 MiB') });
    expect(small.status).toBe(200);
  }, 60_000);

  it('that unpacks to more is answered 413 and never unpacked whole', async () => {
    // Members of a gzip file may follow one another, so this test never has the 400 MiB itself.
    const member = gzipSync(Buffer.alloc(MIB, 0x20));
    const bomb = Buffer.concat(Array.from({ length: 400 }, () => member));
    const before = process.memoryUsage();
    let most = 0;
    const watch = setInterval(() => {
      const now = process.memoryUsage();
      most = Math.max(most, now.arrayBuffers - before.arrayBuffers);
    }, 1);
    const answers = [await post(bomb, GZIP), await post(bomb, { ...PROTOBUF, ...GZIP })];
    clearInterval(watch);
    expect(answers.map(({ status, type }) => [status, type])).toEqual([
      [413, 'application/json'],
      [413, 'application/x-protobuf'],
    ]);
    // Each may hold 64 MiB until it is over; what the first held may not be collected yet.
    expect(most).toBeLessThan(160 * MIB);
  }, 60_000);

  it('of millions of parts is answered 413 before any is made', async () => {
    const wanted = (limit: string): object => ({ status: 413, message: expect.stringContaining(limit) });
    for (const piece of ['{},', '0,', '"k":0,'])
      expect(await post(`{"resourceSpans":[${piece.repeat(4_000_000)}{}]}`)).toMatchObject(wanted('4,000,000'));
    expect(await post(Buffer.alloc(6_000_000, Buffer.from([0x0a, 0])), PROTOBUF)).toMatchObject(wanted('2,000,000'));
  }, 60_000);

  it('is refused with 503 while too many others are being read, and small ones are not', async () => {
    const holders = [holdOpen(open().url, 47 * MIB, 60 * MIB), holdOpen(open().url, 47 * MIB, 60 * MIB)];
    await eventually(async () => (await heldBytes()) >= 94 * MIB, 20_000);
    expect(await post(padded(20 * MIB))).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/), code: 14 });
    expect((await post(requestOf([spanOf(3, 0)]))).status).toBe(200);
    release();
    await Promise.all(holders);
    await eventually(async () => (await heldBytes()) === 0, 20_000);
    expect((await post(padded(20 * MIB))).status).toBe(200);
  }, 60_000);
});

async function heldBytes(): Promise<number> {
  const { text } = await open().call('GET', '/metrics');
  return Number(/^fleetmend_otlp_held_bytes\{.*\} (\S+)$/m.exec(text)?.[1]);
}

let release = (): void => undefined;

/** Sends a part of a large body and waits; `release` breaks it off. */
async function holdOpen(url: string, sent: number, announced: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const before = release;
  release = () => {
    before();
    socket.destroy();
  };
  socket.on('error', () => undefined);
  socket.write(
    `POST /v1/traces HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: ${announced}\r\n\r\n`,
  );
  socket.write(Buffer.alloc(sent, 0x20));
  await once(socket, 'close');
}

describe('who may send spans', () => {
  it('is whoever has a key for it; the project is that of the key, and the answer has the encoding of the request', async () => {
    const own = await openGateway();
    try {
      const ingest = 'fm_default_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1';
      const observe = 'fm_default_bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb2';
      await insertKey(own.db, ingest, ['ingest']);
      await insertKey(own.db, observe, ['observe']);
      const one = requestOf([spanOf(4, 0)]);
      const as = (key?: string): Record<string, string> => (key === undefined ? {} : { authorization: `Bearer ${key}` });
      await eventually(async () => (await postTraces(own.url, one)).status === 401);
      expect(await postTraces(own.url, protobufOf(one), PROTOBUF)).toMatchObject({
        status: 401,
        code: 16,
        type: 'application/x-protobuf',
        message: expect.stringContaining('Authorization'),
      });
      expect(await postTraces(own.url, one, as(observe))).toMatchObject({ status: 403, code: 7, type: 'application/json' });
      expect(await postTraces(own.url, one, as(ingest))).toMatchObject({ status: 200 });
      expect((await postTraces(`${own.url}/v1/traces?key=${ingest}#`, one)).status).toBe(401);
      expect(await own.call('GET', '/v1/traces', { key: ingest })).toMatchObject({
        status: 403,
        body: { type: 'urn:fleetmend:problem:forbidden' },
      });
    } finally {
      await own.close();
    }
  }, 60_000);
});

describe('while the broker is away', () => {
  it('nothing is said to be stored, and the same body is taken when it is back', async () => {
    const before = await stream.last();
    const body = requestOf([spanOf(5, 0), spanOf(5, 1)]);
    await open().nats.stop();
    const answers = await Promise.all([post(body), post(protobufOf(body), PROTOBUF)]);
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 503, code: 14, retryAfter: expect.stringMatching(/^\d+$/), partial: undefined });
    expect(answers[0].message).toContain('0 spans of this body are stored');
    await open().nats.start();
    await eventually(async () => (await post(body)).status === 200, 20_000);
    const stored = await eventually(() => stream.spansSince(before), 20_000);
    expect(distinctSpans(stored)).toHaveLength(2);
  }, 60_000);

  it('turns are still answered as turns are', async () => {
    expect((await open().call('POST', '/v1/turns', { body: turn('beside', 0) })).status).toBe(202);
  });
});
