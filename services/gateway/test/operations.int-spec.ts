import { afterEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { processSettings, SYSTEM_PROJECT } from '#contracts';
import { loadSettings } from '#config';
import { cuttable, eventually } from '#testing';
import { openApiDocument } from '../src/http/openapi.js';
import { listen } from '../src/listen.js';
import { startGateway } from '../src/start.js';
import { openGateway, turn, type Fixture } from './fixture.js';
import Fastify from 'fastify';

let fixture: Fixture;
const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  await fixture.close();
  for (const clean of cleanUp.splice(0)) await clean();
}, 30_000);

const ready = async () => {
  const { status, body } = await fixture.call('GET', '/readyz');
  return { status, body };
};
const post = (body: unknown) => fixture.call('POST', '/v1/turns', { body });

async function manager(): Promise<JetStreamManager> {
  return jetstreamManager(await fixture.nats.connect());
}

describe('a stream that is full', () => {
  it('is answered 503 with Retry-After and what is stored; sending again later works', async () => {
    fixture = await openGateway();
    const jsm = await manager();
    await jsm.streams.update('FM_TURNS', { max_msgs_per_subject: 2 });
    const { status, headers, body } = await post([turn('full', 0), { turn_index: 1 }, turn('full', 2), turn('full', 3)]);
    expect(status).toBe(503);
    expect(headers.get('retry-after')).toBe('2');
    expect(headers.get('content-type')).toMatch(/problem\+json/);
    expect(body).toMatchObject({ title: 'Not stored', accepted: 2, rejected: 2 });
    expect(body.detail).toMatch(/2 of 4 items are stored, 1 are not: the stream is full/);
    const outcomes = body.results.map(({ status: one, error }) => [one, error?.status]);
    expect(outcomes).toEqual([
      ['accepted', undefined],
      ['rejected', 422],
      ['accepted', undefined],
      ['rejected', 503],
    ]);
    expect((await fixture.call('GET', '/metrics')).text).toMatch(
      /fleetmend_ingest_items_total\{event="turn.ended",outcome="refused",service="gateway"\} 1/,
    );
    await jsm.streams.update('FM_TURNS', { max_msgs_per_subject: 10 });
    expect((await post([turn('full', 0), turn('full', 2), turn('full', 3)])).status).toBe(202);
  }, 60_000);
});

describe('a broker that is away', () => {
  it('is answered 503, makes the gateway unready, and is forgotten when it is back', async () => {
    fixture = await openGateway();
    expect(await ready()).toEqual({ status: 200, body: { status: 'ready', missing: {}, degraded: {} } });
    await fixture.nats.stop();
    await eventually(async () => (await ready()).status === 503);
    expect((await ready()).body).toMatchObject({
      status: 'unavailable',
      missing: { broker: expect.stringContaining('NATS_URL') },
    });
    const answer = await post([turn('away', 0), turn('away', 1)]);
    expect(answer).toMatchObject({
      status: 503,
      body: { accepted: 0, rejected: 2, detail: expect.stringContaining('the broker is away') },
    });
    expect((await fixture.call('POST', '/v1/sessions/away/end')).status).toBe(503);
    expect((await fixture.call('GET', '/v1/notices')).status).toBe(200);
    expect((await fixture.call('GET', '/metrics')).text).toMatch(/fleetmend_broker_up\{service="gateway"\} 0/);
    expect((await fixture.call('GET', '/healthz')).status).toBe(200);
    await fixture.nats.start();
    await eventually(async () => (await ready()).status === 200, 15_000);
    expect((await post(turn('away', 0))).status).toBe(202);
  }, 90_000);

  it('for a moment only costs nobody an error', async () => {
    fixture = await openGateway();
    await fixture.nats.stop();
    const answer = post(turn('blink', 0));
    await fixture.nats.start();
    expect((await answer).status).toBe(202);
  }, 60_000);
});

describe('readiness', () => {
  it('names a database that is away; turns are still taken', async () => {
    fixture = await openGateway();
    const way = await cuttable(fixture.db.url);
    cleanUp.push(() => way.close());
    const { url: base } = await fixture.another({ database_url: way.url });
    const there = (method: string, path: string, body?: unknown) => fixture.call(method, path, { base, body });
    expect((await there('POST', '/v1/turns', turn('before', 0))).status).toBe(202);
    way.cut();
    const { status, body } = await there('GET', '/readyz');
    expect([status, body.missing]).toEqual([503, { database: expect.stringContaining('DATABASE_URL') }]);
    expect((await there('POST', '/v1/turns', turn('during', 0))).status).toBe(202);
    const large = turn('large', 0, { traces: [{ trace_id: 't', started_at: 1, output: 'x'.repeat(1024 * 1024) }] });
    expect(await there('POST', '/v1/turns', [large, turn('small', 0)])).toMatchObject({
      status: 503,
      body: { accepted: 1, detail: expect.stringContaining('database') },
    });
    expect((await there('GET', '/v1/notices')).status).toBe(503);
    expect((await there('PUT', '/v1/settings', { gate_window: 4 })).status).toBe(503);
    way.mend();
    await eventually(async () => (await there('GET', '/readyz')).status === 200, 10_000);
    expect((await there('PUT', '/v1/settings', { gate_window: 4 })).status).toBe(200);
  }, 90_000);

  it('names migrations that are pending', async () => {
    fixture = await openGateway();
    await fixture.db.query('DELETE FROM fleetmend_migrations WHERE name LIKE $1', ['Grants%']);
    expect(await ready()).toMatchObject({
      status: 503,
      body: { missing: { migrations: expect.stringContaining('fleetmend migrate') } },
    });
  }, 60_000);

  it('names streams that are not there', async () => {
    fixture = await openGateway();
    await (await manager()).streams.delete('FM_TURNS');
    expect(await ready()).toMatchObject({
      status: 503,
      body: { missing: { broker: expect.stringContaining('fleetmend migrate') } },
    });
  }, 60_000);

  it('is degraded, not away, while another service is in trouble', async () => {
    fixture = await openGateway();
    const js = jetstream(await fixture.nats.connect());
    const health = (status: string) =>
      js.publish(
        `fm.${SYSTEM_PROJECT}.health.scoring`,
        JSON.stringify({ service: 'scoring', status, dependency: 'judge', detail: 'no answer', at: 1 }),
      );
    await health('degraded');
    await eventually(async () => (await ready()).body.status === 'degraded');
    expect(await ready()).toEqual({
      status: 200,
      body: { status: 'degraded', missing: {}, degraded: { 'scoring.judge': 'no answer' } },
    });
    await health('ok');
    await eventually(async () => (await ready()).body.status === 'ready');
  }, 60_000);
});

describe('metrics', () => {
  it('tell the backlog of each consumer and the age of the oldest turn', async () => {
    fixture = await openGateway();
    const line = async (name: string): Promise<string | undefined> =>
      (await fixture.call('GET', '/metrics')).text.split('\n').find((one) => one.startsWith(name));
    expect(await line('fleetmend_oldest_unprocessed_turn_seconds{')).toMatch(/ 0$/);
    await fixture.call('POST', '/v1/sessions/other/end');
    await post([turn('m', 0), turn('m', 1)]);
    expect(await line('fleetmend_consumer_pending{stream="FM_TURNS",consumer="scoring-turns"')).toMatch(/ 2$/);
    const consumer = await jetstream(await fixture.nats.connect()).consumers.get('FM_TURNS', 'scoring-turns');
    const message = await consumer.next();
    expect(await line('fleetmend_consumer_unacknowledged{stream="FM_TURNS",consumer="scoring-turns"')).toMatch(/ 1$/);
    const age = Number((await line('fleetmend_oldest_unprocessed_turn_seconds{'))?.split(' ').at(-1));
    expect(age).toBeGreaterThan(0);
    expect(age).toBeLessThan(20);
    message?.ack();
    await eventually(async () =>
      / 0$/.test((await line('fleetmend_consumer_unacknowledged{stream="FM_TURNS",consumer="scoring-turns"')) ?? ''),
    );
    expect(await line('fleetmend_http_seconds_count{')).toBeDefined();
    expect(await line('process_cpu_seconds_total')).toBeDefined();
  }, 60_000);
});

describe('errors', () => {
  it('are problem details everywhere', async () => {
    fixture = await openGateway();
    const cases: [string, string, number][] = [
      ['GET', '/nothing', 404],
      ['POST', '/v1/nothing', 404],
      ['GET', `/v1/sessions/${'x'.repeat(9_000)}`, 414],
      ['GET', '/v1/turns', 405],
      ['PATCH', '/v1/settings', 405],
      ['OPTIONS', '/v1/turns', 405],
      ['DELETE', '/v1/sessions/abc', 405],
      ['GET', '/v1/sessions/%E0%A4%A', 400],
      ['GET', '/asyncapi.jso', 404],
    ];
    for (const [method, path, status] of cases) {
      const answer = await fixture.call(method, path);
      expect([method, path.slice(0, 40), answer.status]).toEqual([method, path.slice(0, 40), status]);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      expect(answer.body).toMatchObject({
        type: expect.stringMatching(/^urn:fleetmend:problem:/),
        title: expect.any(String),
        status,
        detail: expect.any(String),
      });
      expect(answer.text).not.toMatch(/\bat .*\.[jt]s:\d/);
    }
    expect((await fixture.call('GET', '/v1/turns')).headers.get('allow')).toBe('POST');
    expect((await fixture.call('PATCH', '/v1/settings')).headers.get('allow')).toBe('GET, PUT');
  }, 60_000);

  it('of what is no HTTP are problem details too', async () => {
    fixture = await openGateway();
    const { port } = new URL(fixture.url);
    const ask = async (request: string): Promise<string> => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.end(request);
      return text(socket);
    };
    expect(await ask('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*problem\+json[^]*urn:fleetmend/);
    expect(await ask(`GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
  }, 60_000);

  it('of ours are logged under a reference and show nothing of it', async () => {
    fixture = await openGateway();
    await fixture.db.query('ALTER TABLE journal.events ALTER COLUMN t TYPE text');
    await fixture.db.query("INSERT INTO journal.events (id, project, type, at) VALUES ('x', 'default', 'x', '200000-01-01')");
    const { status, body, text: shown } = await fixture.call('GET', '/v1/journal');
    expect([status, body.title]).toEqual([500, 'An error of ours']);
    expect(shown).not.toMatch(/SELECT|journal/);
  }, 60_000);
});

describe('documents', () => {
  it('serve what the generator writes, a page for people, and nothing that needs a key', async () => {
    fixture = await openGateway();
    expect((await fixture.call('GET', '/openapi.json')).body).toEqual(openApiDocument());
    const page = await fixture.call('GET', '/');
    expect(page.text).toContain('dashboard');
    expect(page.headers.get('content-type')).toContain('text/html');
    expect([200, 404]).toContain((await fixture.call('GET', '/asyncapi.json')).status);
    expect((await fixture.call('HEAD', '/healthz')).status).toBe(200);
  }, 60_000);
});

describe('the port', () => {
  it('that was asked for and is taken is refused with what to do', async () => {
    fixture = await openGateway();
    await expect(fixture.another({ http_port: Number(new URL(fixture.url).port) })).rejects.toThrow(
      /another program has it.*http_port/,
    );
    await expect(fixture.another({ http_host: '192.0.2.1' })).rejects.toThrow(/./);
  }, 60_000);

  it('that is the default one and taken is followed by the next free one, which is said', async () => {
    fixture = await openGateway();
    const servers = [Fastify(), Fastify()];
    const said: string[] = [];
    const settings = processSettings.parse({});
    const urls = [];
    for (const server of servers) urls.push(await listen(server, settings, (line) => said.push(line)));
    expect(new Set(urls).size).toBe(2);
    expect(said.at(-1)).toMatch(/port 4320 is taken .* listening on 43\d\d instead/);
    await Promise.all(servers.map((server) => server.close()));
  }, 60_000);

  it('is answered no more after stop, which may be called while requests run', async () => {
    fixture = await openGateway();
    const gateway = await startGateway(
      loadSettings(
        {},
        { nats_url: fixture.nats.url, database_url: fixture.db.url, http_port: 0, log_level: 'silent', shutdown_grace_s: 5 },
      ),
    );
    const running = fixture.call('POST', '/v1/turns', { body: turn('last', 0), base: gateway.url });
    await running;
    await gateway.stop();
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
  }, 60_000);
});
