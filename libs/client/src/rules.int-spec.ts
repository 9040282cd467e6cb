import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { ruleChanged } from '../../contracts/src/rule.events.js';
import { cuttable, eventually, testNats, type TestNats } from '../../testing/src/index.js';
import { guardedNats } from '../fixtures/guarded-nats.js';
import { RuleServer } from '../fixtures/rule-server.js';
import { connect, FleetmendError, type Client, type ConnectOptions } from './index.js';

const MINUTE = 60_000;
const SECOND = 1_000;

let nats: TestNats;
let broker: NatsConnection;
let server: RuleServer;
const open: Client[] = [];
const opened = (options: ConnectOptions): Client => {
  const client = connect(options);
  open.push(client);
  return client;
};

beforeAll(async () => {
  nats = await testNats();
  broker = await nats.connect('broker');
}, MINUTE);
beforeEach(async () => {
  server = new RuleServer();
  await server.listen();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
  server.close();
});
afterAll(() => nats.drop(), MINUTE);

let projects = 0;
/** A project that only this test speaks of, with its server. */
function project(): string {
  projects += 1;
  const name = `shop-${projects}`;
  server.serve(broker, name);
  return name;
}

/** The rules change; over NATS everybody is told by the broker, as after a change in the gateway. */
async function change(of: string): Promise<void> {
  server.version += 1;
  server.advice = `Advice of version ${server.version}.`;
  broker.publish(ruleChanged.subject(of), JSON.stringify({ version: server.version }));
  await broker.flush();
}
const advice = async (client: Client, session?: string): Promise<string | undefined> =>
  (await client.rules.read(null, { session })).rules[0]?.rule;

describe.each<[string, (of: string) => ConnectOptions]>([
  ['NATS', (of) => ({ url: nats.url, project: of })],
  ['HTTP', () => ({ http: `${server.url}/`, key: 'fm_shop_x' })],
])('reads over %s', (way, optionsOf) => {
  let of: string;
  let client: Client;
  beforeEach(async () => {
    of = project();
    client = opened(optionsOf(of));
    await client.connected();
  });

  it('answer the four questions, for a session in its turn', async () => {
    const session = client.session('käse/1').atTurn(4);
    expect(await session.rules.list()).toMatchObject({ version: 1, scopes: [{ scope: 'global' }] });
    expect(await session.rules.read('payments')).toMatchObject({ scope: 'payments', rules: [{ rationale: 'for käse/1' }] });
    expect(await session.rules.search('money & back', { limit: 3 })).toMatchObject({ rules: [{ score: 1 }] });
    expect(await session.rules.status('r-1')).toMatchObject({ id: 'r-1', known: true });
    expect(server.asked.map(({ tool, input, session: id, turn }) => ({ tool, input, id, turn }))).toEqual([
      { tool: 'list', input: {}, id: 'käse/1', turn: '4' },
      { tool: 'read', input: { scope: 'payments' }, id: 'käse/1', turn: '4' },
      { tool: 'search', input: { query: 'money & back', limit: 3 }, id: 'käse/1', turn: '4' },
      { tool: 'status', input: { rule_id: 'r-1' }, id: 'käse/1', turn: '4' },
    ]);
    if (way === 'HTTP') expect(server.asked[0]?.key).toBe('Bearer fm_shop_x');
  });

  it('reach the gateway the first time of each session and question, and then not again', async () => {
    for (let time = 0; time < 3; time += 1) {
      await client.rules.read('a', { session: 's-1' });
      await client.session('s-1').atTurn(time).rules.read('a');
      await client.rules.read('b', { session: 's-1' });
      await client.rules.read('a', { session: 's-2' });
      await client.rules.read('a');
    }
    expect(server.asked.map(({ input, session }) => [input['scope'], session])).toEqual([
      ['a', 's-1'],
      ['b', 's-1'],
      ['a', 's-2'],
      ['a', undefined],
    ]);
  });

  it('that come at the same time share one question', async () => {
    let let_go = (): void => undefined;
    server.gate = new Promise((resolve) => (let_go = resolve));
    const reads = [advice(client, 's'), advice(client, 's'), advice(client, 't')];
    await eventually(() => server.asked.length === 2);
    let_go();
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 3 }, () => 'Read the order first.'));
    expect(server.asked).toHaveLength(2);
  });

  it('show a change within a second, to every session', async () => {
    expect([await advice(client, 's'), await advice(client)]).toEqual(['Read the order first.', 'Read the order first.']);
    await change(of);
    await eventually(async () => (await advice(client, 's')) === 'Advice of version 2.', 2 * SECOND);
    await eventually(async () => (await advice(client)) === 'Advice of version 2.', 2 * SECOND);
    // The next change as well, and what was learned by one read holds for all: nobody is shown the older version again.
    await change(of);
    await client.rules.list();
    expect([await advice(client, 's'), await advice(client)]).toEqual(['Advice of version 3.', 'Advice of version 3.']);
  });

  it('give every caller an answer of its own', async () => {
    const first = await client.rules.read();
    first.rules.length = 0;
    expect((await client.rules.read()).rules).toHaveLength(1);
    expect(server.asked).toHaveLength(1);
  });

  it.each<[number, 'refused' | 'unavailable']>([
    [422, 'refused'],
    [403, 'refused'],
    [404, 'refused'],
    [429, 'unavailable'],
    [503, 'unavailable'],
  ])('reject with a clear error when the answer is %i, and are asked anew after it', async (status, kind) => {
    server.refusal = { status, text: 'no such scope' };
    const error = await client.rules.read('x').catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(FleetmendError);
    expect(error).toMatchObject({ kind, status, message: 'no such scope' });
    server.refusal = null;
    expect(await client.rules.read('x')).toMatchObject({ version: 1 });
  });

  it('are tools that never reject', async () => {
    const { tools } = client.session('s').atTurn(1);
    const [list, read] = tools.plain();
    expect(await list?.handler(undefined)).toMatchObject({ version: 1 });
    expect(await read?.handler('{"scope": "payments"}')).toMatchObject({ scope: 'payments', rules: [{ rationale: 'for s' }] });
    expect(await tools.call('harness_rules_search', { query: 'x' })).toMatchObject({ rules: [{ id: 'r-1' }] });
    expect(await tools.call('somebody_elses_tool', {})).toBeNull();
    expect(await read?.handler('{"scope"')).toMatchObject({ error: expect.stringContaining('JSON') });
    expect(await read?.handler([1])).toEqual({ error: 'the arguments have to be one JSON object' });
    server.refusal = { status: 422, text: 'no such scope' };
    expect(await read?.handler({ scope: '../x' })).toEqual({ error: 'no such scope' });
  });
});

describe('over HTTP', () => {
  it('an answer that still holds is not sent again', async () => {
    const client = opened({ http: server.url });
    await client.rules.read();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await client.rules.read()).toMatchObject({ version: 1 });
    expect(server.asked.map(({ tag }) => tag !== undefined)).toEqual([false, true]);
    await client.rules.read();
    expect(server.asked).toHaveLength(2);
  });
  it('nobody there is an error of the read and of nothing else', async () => {
    const client = opened({ http: 'http://127.0.0.1:1' });
    await expect(client.rules.list()).rejects.toMatchObject({ name: 'FleetmendError', kind: 'unavailable', status: null });
    await expect(client.connected()).rejects.toBeInstanceOf(FleetmendError);
    await expect(client.settle('s', 1, { timeoutS: 1 })).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('over NATS', () => {
  it(
    'a connection that was away may have missed a change, so that nothing from before is believed',
    async () => {
      const way = await cuttable(nats.url);
      const of = project();
      const client = opened({ url: way.url, project: of });
      await advice(client);
      way.cut();
      server.version += 1;
      server.advice = 'Changed meanwhile.';
      await expect(
        eventually(() =>
          advice(client).then(
            () => false,
            () => true,
          ),
        ),
      ).resolves.toBe(true);
      way.mend();
      await eventually(async () => (await advice(client).catch(() => '')) === 'Changed meanwhile.', 15 * SECOND);
      const before = server.asked.length;
      await advice(client);
      await eventually(() => advice(client).then(() => server.asked.length <= before + 1));
      await client.close();
      await way.close();
    },
    MINUTE,
  );

  it('a connection of the host is used, and stays open', async () => {
    const connection = await nats.connect('host');
    const client = opened({ connection, project: project() });
    expect(await advice(client)).toBe('Read the order first.');
    await client.close();
    await connection.flush();
    expect(connection.isClosed()).toBe(false);
  });

  it('nobody who answers is told at once', async () => {
    const client = opened({ url: nats.url, project: 'deserted' });
    await expect(client.rules.list()).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('fm.deserted.rpc.rules.list'),
    });
  });

  it(
    'a broker that comes up later is waited for, and one that never does keeps nobody from ending',
    async () => {
      const way = await cuttable(nats.url);
      way.cut();
      const errors: Error[] = [];
      const onError = (error: Error): void => void errors.push(error);
      const late = opened({ url: way.url, project: project(), onError });
      const never = opened({ url: way.url, project: project(), onError });
      await expect(never.rules.list()).rejects.toMatchObject({ kind: 'unavailable' });
      await never.close();
      way.mend();
      await late.connected();
      expect(await late.rules.list()).toMatchObject({ version: 1 });
      await expect(never.connected()).rejects.toBeInstanceOf(FleetmendError);
      expect(errors).toEqual([]);
      await late.close();
      await way.close();
    },
    MINUTE,
  );

  it(
    'refused credentials are told to the listener and to every read, and throw nowhere else',
    async () => {
      const guarded = await guardedNats();
      const errors: Error[] = [];
      const client = opened({
        ...{ url: guarded.url, user: 'agent', pass: 'wrong' },
        onError: (error) => {
          errors.push(error);
          throw new Error('the listener is broken too');
        },
      });
      await expect(client.rules.list()).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(/authorization/i),
      });
      await expect(client.connected()).rejects.toBeInstanceOf(FleetmendError);
      expect(errors).toHaveLength(1);
      await guarded.stop();
    },
    MINUTE,
  );

  it(
    'a user who may not be told of changes asks again after a second',
    async () => {
      const guarded = await guardedNats();
      const own = await guarded.connect('verifier');
      server.serve(own, 'default');
      const errors: Error[] = [];
      const client = opened({ url: guarded.url, user: 'agent', pass: 'right', onError: (error) => errors.push(error) });
      await eventually(async () => (await client.rules.list()).version === 1 && errors.length === 1);
      server.version = 2;
      await eventually(async () => (await client.rules.list()).version === 2, 2 * SECOND);
      await client.close();
      await own.close();
      await guarded.stop();
    },
    MINUTE,
  );
});
