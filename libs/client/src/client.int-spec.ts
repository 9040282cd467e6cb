import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { metricAnswer, verifyAnswer } from '../../contracts/src/rpc.js';
import { rpcSubject } from '../../contracts/src/rpc-subject.js';
import { cuttable, eventually, testNats, type TestNats } from '../../testing/src/index.js';
import { guardedNats, type GuardedNats } from '../fixtures/guarded-nats.js';
import { metricResponder, verifier, type Responder, type VerifierOptions } from './index.js';

const MINUTE = 60_000;
const TURN = { session_id: 's', turn_index: 3, end_state: { refunded: true } };

describe('answers of the user', () => {
  let nats: TestNats;
  let asker: NatsConnection;
  const open: Responder[] = [];
  const kept = async (starting: Promise<Responder>): Promise<Responder> => {
    const responder = await starting;
    open.push(responder);
    return responder;
  };
  const verifying = (verify: VerifierOptions['verify'], rest: Partial<VerifierOptions> = {}): Promise<Responder> =>
    kept(verifier({ url: nats.url, project: 'shop', verify, ...rest }));
  const ask = async (question: unknown = TURN, timeout = 5_000): Promise<unknown> => {
    const data = typeof question === 'string' ? question : JSON.stringify(question);
    return (await asker.request(rpcSubject('shop', 'verify'), data, { timeout })).json();
  };

  beforeAll(async () => {
    nats = await testNats();
    asker = await nats.connect('asker');
  }, MINUTE);
  afterEach(() => Promise.all(open.splice(0).map((responder) => responder.close())));
  afterAll(() => nats.drop(), MINUTE);

  it('reach whoever asks, with the turn that was asked about', async () => {
    const seen: unknown[] = [];
    await verifying((turn) => {
      seen.push(turn);
      return { value: turn.end_state !== null, reason: 'the money is back' };
    });
    expect(await ask({ ...TURN, replay_id: 'r-1' })).toEqual({ value: 1, reason: 'the money is back' });
    expect(seen).toEqual([{ ...TURN, replay_id: 'r-1' }]);
  });

  it.each([
    [true, 1],
    [false, 0],
    [0.25, 0.25],
    [null, null],
  ])('may be as bare as %j', async (said, value) => {
    await verifying(() => said);
    expect(verifyAnswer.parse(await ask())).toEqual({ value, reason: null });
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new Error('no such order');
      },
      /^no such order$/,
    ],
    ['rejects', () => Promise.reject(new Error('database away')), /^database away$/],
    ['says nothing', () => undefined, /undefined.*expected a number from 0 to 1/],
    ['says a percentage', () => 85, /85.*expected/],
    ['says no number', () => Number.NaN, /NaN.*expected/],
    ['says what JSON cannot', () => ({ value: 1n }), /object.*expected/],
  ])('are an error when the function %s, and the next is answered', async (_, verify, message) => {
    const errors: Error[] = [];
    let calls = 0;
    await verifying((() => (++calls === 1 ? verify() : true)) as VerifierOptions['verify'], {
      onError: (error) => {
        errors.push(error);
        throw new Error('the listener is broken too');
      },
    });
    expect(verifyAnswer.parse(await ask())).toEqual({ error: expect.stringMatching(message) });
    expect(await ask()).toMatchObject({ value: 1 });
    expect(errors.map((error) => error.message)).toEqual([expect.stringMatching(message)]);
  });

  it('are an error for a question that is not JSON', async () => {
    let calls = 0;
    await verifying(() => (calls += 1) > 0);
    expect(await ask('{"session_id"')).toEqual({ error: expect.stringContaining('JSON') });
    expect(calls).toBe(0);
  });

  it('come once per question from copies that share the work', async () => {
    const counts = [0, 0];
    for (const copy of [0, 1])
      await verifying(() => {
        counts[copy] = (counts[copy] ?? 0) + 1;
        return { value: 1, reason: String(copy) };
      });
    await Promise.all(Array.from({ length: 60 }, () => ask()));
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(60);
    // The broker draws one at random: 60 questions for one of two copies would be a chance in 5e17.
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });

  it('are worked on no more at once than asked for', async () => {
    let running = 0;
    let most = 0;
    await verifying(
      async () => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
        return true;
      },
      { concurrency: 3 },
    );
    await Promise.all(Array.from({ length: 12 }, () => ask()));
    expect(most).toBe(3);
  });

  it('go on after the broker was away', async () => {
    const way = await cuttable(nats.url);
    await kept(verifier({ url: way.url, project: 'shop', verify: () => true }));
    expect(await ask()).toMatchObject({ value: 1 });
    way.cut();
    await eventually(() =>
      ask(TURN, 100).then(
        () => false,
        () => true,
      ),
    );
    way.mend();
    expect(await eventually(() => ask(TURN, 500), 15_000)).toMatchObject({ value: 1 });
    await Promise.all(open.splice(0).map((responder) => responder.close()));
    await way.close();
  });

  it('begin when the broker comes up', async () => {
    const way = await cuttable(nats.url);
    way.cut();
    let listening = false;
    const starting = kept(verifier({ url: way.url, project: 'shop', verify: () => true })).then(() => (listening = true));
    await expect(ask(TURN, 200)).rejects.toThrow(/no responders/i);
    expect(listening).toBe(false);
    way.mend();
    await starting;
    expect(await ask()).toMatchObject({ value: 1 });
    await Promise.all(open.splice(0).map((responder) => responder.close()));
    await way.close();
  });

  it('in hand are given before it closes, and then no more', async () => {
    let finish = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      void verifying(async () => {
        resolve();
        await new Promise<void>((done) => (finish = done));
        return true;
      }).then(() => (answer = ask()));
    });
    let answer: Promise<unknown> = Promise.resolve();
    await started;
    const [responder] = open;
    const closed = responder?.close();
    finish();
    await closed;
    await responder?.close();
    expect(await answer).toMatchObject({ value: 1 });
    await expect(ask(TURN, 200)).rejects.toThrow(/no responders/i);
  });

  it('come over a connection of the host as well, which stays open', async () => {
    const connection = await nats.connect('host');
    const responder = await verifier({ connection, project: 'shop', verify: () => true });
    expect(await ask()).toMatchObject({ value: 1 });
    await responder.close();
    await expect(ask(TURN, 200)).rejects.toThrow(/no responders/i);
    await connection.flush();
    expect(connection.isClosed()).toBe(false);
  });

  it('of a metric come under its own name', async () => {
    const question = {
      ...TURN,
      metric: 'politeness',
      trace: { trace_id: 't' },
      request: 'Where is it?',
      answer: 'Look yourself.',
    };
    await kept(
      metricResponder({
        url: nats.url,
        project: 'shop',
        metric: 'politeness',
        evaluate: ({ answer, metric }) => ({ value: 0.2, reason: `${metric}: "${answer}"` }),
      }),
    );
    const reply = await asker.request(rpcSubject('shop', 'metric', 'politeness'), JSON.stringify(question), { timeout: 5_000 });
    expect(metricAnswer.parse(reply.json())).toEqual({ value: 0.2, reason: 'politeness: "Look yourself."' });
    await expect(asker.request(rpcSubject('shop', 'metric', 'other'), '{}', { timeout: 200 })).rejects.toThrow(/no responders/i);
  });
});

describe('a broker with users', () => {
  let nats: GuardedNats;
  beforeAll(async () => {
    nats = await guardedNats();
  }, MINUTE);
  afterAll(() => nats.stop());
  const start = (credentials: { user?: string; pass?: string; token?: string }): Promise<Responder> =>
    verifier({ url: nats.url, project: 'shop', verify: () => true, ...credentials });

  it('takes the right credentials', async () => {
    const responder = await start({ user: 'verifier', pass: 'right' });
    await responder.close();
  });

  it.each([[{ user: 'verifier', pass: 'wrong' }], [{ token: 'wrong' }], [{}]])('refuses %j at the start', async (credentials) => {
    await expect(start(credentials)).rejects.toThrow(/authorization/i);
  });

  it('refuses a user who may not answer, at the start', async () => {
    await expect(start({ user: 'agent', pass: 'right' })).rejects.toThrow(/permission/i);
  });
});
