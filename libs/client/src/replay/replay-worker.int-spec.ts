import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AckPolicy, DeliverPolicy, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { replayFinished, replayRequested, replayStarted, replayTurn } from '../../../contracts/src/replay.events.js';
import { REPLAY_STREAM, replayDurable } from '../../../contracts/src/replay-queue.js';
import { tapeOf } from '../../../domain/src/tape/index.js';
import { normaliseTurn } from '../../../ingest/src/index.js';
import { fleetTools, isFleetTask, noRules, replayTask, type PlannedCall } from '../../../testing/src/fleet/index.js';
import { cuttable, eventually, testNats, type TestNats } from '../../../testing/src/index.js';
import { replayWorker, type ReplayContext, type ReplayFunction, type ReplayWorker, type ReplayWorkerOptions } from '../index.js';

const MINUTE = 60_000;
const MICROS = 1_000;
const inMs = (milliseconds: number): number => (Date.now() + milliseconds) * MICROS;

interface Said {
  readonly what: string;
  readonly payload: Record<string, unknown>;
}

describe('a replay worker', () => {
  let nats: TestNats;
  let connection: NatsConnection;
  let listening: Subscription;
  let project = 'p0';
  let count = 0;
  const said: Said[] = [];
  const errors: Error[] = [];
  const open: ReplayWorker[] = [];

  const addDurable = async (): Promise<void> => {
    const manager = await jetstreamManager(connection);
    await manager.consumers.add(REPLAY_STREAM, {
      ...{ durable_name: replayDurable(project), filter_subject: replayRequested.subject(project) },
      ...{ ack_policy: AckPolicy.Explicit, deliver_policy: DeliverPolicy.All, max_deliver: -1 },
    });
  };
  const work = async (
    replay: ReplayFunction,
    options: Partial<ReplayWorkerOptions> = {},
    url = nats.url,
  ): Promise<ReplayWorker> => {
    const onError = (error: Error): never => {
      errors.push(error);
      throw new Error('the listener is broken too');
    };
    const worker = await replayWorker(replay, { url, project, onError, ...options });
    open.push(worker);
    return worker;
  };
  const ask = async (id: string, more: Record<string, unknown> = {}): Promise<void> => {
    const request = {
      replay_id: id,
      case_id: `case-${id}`,
      pair: null,
      replay_input: { n: id },
      candidate_rule_id: 'r-1',
      session_id: `replay-${id}`,
    };
    const payload = replayRequested.schema.parse({ ...request, tape: null, deadline: inMs(MINUTE), env_deadline: null, ...more });
    await connection.request(replayRequested.subject(project), JSON.stringify(payload));
  };
  const of = (id: string): Said[] => said.filter(({ payload }) => payload['replay_id'] === id);
  const finished = (id: string): Promise<Said> => eventually(() => of(id).find(({ what }) => what === 'replay.finished'), 20_000);

  beforeAll(async () => {
    nats = await testNats();
    connection = await nats.connect();
  }, MINUTE);
  beforeEach(async () => {
    project = `p${(count += 1)}`;
    said.length = 0;
    errors.length = 0;
    listening = connection.subscribe(`fm.${project}.replay.>`, {
      callback: (_, message) => {
        const what = message.subject.split('.').slice(2).join('.');
        if (what !== 'replay.requested') said.push({ what, payload: message.json() });
      },
    });
    await addDurable();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((worker) => worker.close()));
    listening.unsubscribe();
  });
  afterAll(() => nats.drop(), MINUTE);

  it('runs a case, says that it started, sends its turns and says that it ended, as the contracts have it', async () => {
    const seen: Partial<ReplayContext>[] = [];
    await work(async (context) => {
      const { replayId, caseId, replayInput, sessionId } = context;
      seen.push({ replayId, caseId, replayInput, sessionId });
      expect(context.preamble()).toContain('harness_rules_read');
      expect(context.deadline.getTime()).toBeGreaterThan(Date.now());
      expect(context.signal.aborted).toBe(false);
      const find = context.tool('find', (order: { id: number }) => Promise.resolve(`live ${order.id}`));
      expect(await find({ id: 7 })).toBe('taped');
      await context.turn({ traces: [{ trace_id: 'a', started_at: '2026-11-30T02:00:00Z' }], end_state: { done: true } });
      await context.turn({ final: true });
    });
    await ask('a', { tape: { calls: [{ tool: 'find', arguments: { id: 7 }, result: 'taped', error: null }], cut: false } });
    const { payload } = await finished('a');
    expect(payload).toEqual({ replay_id: 'a', session_id: 'replay-a', turn_index: 1, tape_share: 1 });
    expect(seen).toEqual([{ replayId: 'a', caseId: 'case-a', replayInput: { n: 'a' }, sessionId: 'replay-a' }]);
    expect(of('a').map(({ what }) => what)).toEqual(['replay.started', 'replay.turn', 'replay.turn', 'replay.finished']);
    expect(of('a').map(({ payload: { turn_index: index } }) => index)).toEqual([undefined, 0, 1, 1]);
    const schemas = [replayStarted.schema, replayTurn.schema, replayTurn.schema, replayFinished.schema];
    for (const [at, one] of of('a').entries()) expect(schemas[at]?.safeParse(one.payload).success).toBe(true);
    expect(of('a')[1]?.payload).toMatchObject({ session_id: 'replay-a', end_state: { done: true } });
    expect(errors).toEqual([]);
  });

  it('sends the turns of a scripted agent as they are, under the session of the replay', async () => {
    const options = { seed: 1, rates: { loop: 1 } };
    await work(async ({ replayInput, sessionId, turn }) => {
      if (!isFleetTask(replayInput)) throw new Error('no task');
      await turn({ ...(await replayTask('another', replayInput, noRules, options)) });
      await turn(await replayTask(sessionId, replayInput, noRules, options));
    });
    await ask('a', { replay_input: { task: 'loop', order: 7 } });
    await finished('a');
    const [, first, second] = of('a');
    expect(first?.payload).toMatchObject({ session_id: 'replay-a', turn_index: 0, traces: [{ trace_id: 'another-t0' }] });
    expect(second?.payload).toMatchObject({ session_id: 'replay-a', traces: [{ trace_id: 'replay-a-t0' }] });
    expect(replayTurn.schema.safeParse(first?.payload).success).toBe(true);
  });

  it('plays the tools of a scripted agent from the tape of its captured turn', async () => {
    const options = { seed: 1, rates: { misused_tool: 1 } };
    const task = { task: 'misused_tool', order: 7 } as const;
    const captured = normaliseTurn(await replayTask('captured', task, noRules, options));
    if (!captured.ok) throw new Error('no turn');
    const replay: ReplayFunction = async ({ sessionId, tool, turn }) => {
      const callTool = ({ tool: name, args }: PlannedCall): Promise<unknown> => tool(name, () => Promise.resolve('live'))(args);
      await turn(await replayTask(sessionId, task, noRules, { ...options, callTool }));
    };
    await work(replay, { neverLive: fleetTools.map(({ name }) => name) });
    await ask('a', { replay_input: task, tape: tapeOf(captured.turn) });
    expect((await finished('a')).payload).toMatchObject({ session_id: 'replay-a', tape_share: 1 });
    expect(of('a')[1]?.payload).toMatchObject({
      traces: [
        { spans: [{ name: 'cancel_order', status: 'ERROR', error: { message: 'Error: order 7 was shipped' } }, { kind: 'LLM' }] },
      ],
    });
  });

  it('reports what the function throws, and runs the next', async () => {
    await work(({ replayId }) => {
      if (replayId === 'a') throw new Error('no environment');
      if (replayId === 'b') return Promise.reject(new Error(''));
      return undefined;
    });
    for (const id of ['a', 'b', 'c']) await ask(id);
    expect((await finished('c')).payload).toMatchObject({ session_id: 'replay-c', tape_share: null });
    expect((await finished('a')).payload).toEqual({ replay_id: 'a', error: 'no environment', tape_share: null });
    expect((await finished('b')).payload).toMatchObject({ error: 'Error' });
  });

  it('ends a run at its deadline, sends nothing of it afterwards, and runs the next', async () => {
    const late: unknown[] = [];
    await work(async ({ replayId, signal, turn, tool }) => {
      if (replayId === 'b') return;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      const pay = tool('pay', () => late.push('paid'));
      for (const attempt of [() => turn({}), () => pay({})])
        await attempt().catch((error: unknown) => late.push((error as Error).message));
    });
    await ask('a', { deadline: inMs(300) });
    await ask('b');
    await finished('b');
    expect((await finished('a')).payload).toMatchObject({ error: expect.stringContaining('deadline') });
    expect(late).toEqual([expect.stringContaining('deadline'), expect.stringContaining('deadline')]);
    expect(of('a').map(({ what }) => what)).toEqual(['replay.started', 'replay.finished']);
  });

  it('goes on without a run that does not end, and says so', async () => {
    await work(({ replayId }) => (replayId === 'a' ? new Promise(() => undefined) : undefined));
    await ask('a', { deadline: inMs(100) });
    await ask('b');
    await finished('b');
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/replay a still runs/)]);
  });

  it('does not run what comes after its deadline', async () => {
    let runs = 0;
    await work(() => (runs += 1));
    await ask('a', { deadline: inMs(-1) });
    expect((await finished('a')).payload).toMatchObject({ error: expect.stringContaining('deadline') });
    expect(runs).toBe(0);
  });

  it('does not count the wait for an environment, which ends when the function says so', async () => {
    const [environment, execution] = [20_000, 10_000];
    const deadlines: number[] = [];
    await work(async (context) => {
      expect(of('a')).toEqual([]);
      deadlines.push(context.deadline.getTime(), Date.now());
      await context.markExecutionStarted();
      await context.markExecutionStarted();
      deadlines.push(context.deadline.getTime(), Date.now());
    });
    const env_deadline = inMs(environment);
    await ask('a', { env_deadline, deadline: env_deadline + execution * MICROS });
    expect((await finished('a')).payload).toMatchObject({ session_id: 'replay-a' });
    expect(of('a').map(({ what }) => what)).toEqual(['replay.started', 'replay.finished']);
    const [waiting = 0, before = 0, running = 0, after = 0] = deadlines;
    expect(waiting).toBe(env_deadline / MICROS);
    expect(running).toBeGreaterThanOrEqual(before + execution);
    expect(running).toBeLessThanOrEqual(after + execution);
  });

  it('says nothing of a start when the environment never came', async () => {
    await work(({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)));
    await ask('a', { env_deadline: inMs(200), deadline: inMs(MINUTE) });
    expect((await finished('a')).payload).toMatchObject({ error: expect.stringContaining('environment did not come') });
    expect(of('a')).toHaveLength(1);
  });

  it('counts a run with a turn as started, and stores a turn that nobody waits for before it says the end', async () => {
    await work((context) => void context.turn({ turn_index: 4 }));
    await ask('a', { env_deadline: inMs(MINUTE), deadline: inMs(2 * MINUTE) });
    await finished('a');
    expect(of('a').map(({ what }) => what)).toEqual(['replay.started', 'replay.turn', 'replay.finished']);
  });

  it('fails when a turn cannot be sent, whoever waits for it', async () => {
    await work((context) => void context.turn({ end_state: 'x'.repeat(9 * 2 ** 20) }));
    await ask('a');
    expect((await finished('a')).payload).toMatchObject({ error: expect.stringContaining('larger than') });
  });

  it.each([
    [undefined, 1],
    [3, 3],
  ])('with a concurrency of %p runs %p at once', async (concurrency, most) => {
    let running = 0;
    let seen = 0;
    const replay = async (): Promise<void> => {
      seen = Math.max(seen, (running += 1));
      await sleep(100);
      running -= 1;
    };
    await work(replay, concurrency === undefined ? {} : { concurrency });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const id of ids) await ask(id);
    await Promise.all(ids.map(finished));
    expect(seen).toBe(most);
  });

  it('shares the requests with other workers: each is run once', async () => {
    const runs: string[] = [];
    for (const name of ['one', 'two'])
      await work(async ({ replayId }) => {
        runs.push(`${name} ${replayId}`);
        await sleep(50);
      });
    const ids = Array.from({ length: 12 }, (_, n) => `r${n}`);
    await Promise.all(ids.map((id) => ask(id)));
    await Promise.all(ids.map(finished));
    expect(runs.map((run) => run.split(' ')[1]).sort()).toEqual([...ids].sort());
    expect(new Set(runs.map((run) => run.split(' ')[0])).size).toBe(2);
  });

  it('waits for a project of which nothing was ever asked', async () => {
    project = `${project}-new`;
    listening.unsubscribe();
    listening = connection.subscribe(`fm.${project}.replay.finished`, {
      callback: (_, message) => void said.push({ what: 'replay.finished', payload: message.json() }),
    });
    await work(() => undefined);
    await ask('a');
    await addDurable();
    await finished('a');
    expect(errors).toEqual([]);
  });

  it('passes over what is no request', async () => {
    await work(() => undefined);
    for (const text of ['{"replay_id": ', '{"replay_id": "x"}']) await connection.request(replayRequested.subject(project), text);
    await ask('a');
    await finished('a');
    expect(errors).toHaveLength(2);
  });

  it(
    'goes on after the broker was away',
    async () => {
      const way = await cuttable(nats.url);
      let cutting = true;
      await work(
        async ({ turn }) => {
          if (cutting) way.cut();
          cutting = false;
          setTimeout(() => way.mend(), 200);
          await turn({});
        },
        {},
        way.url,
      );
      await ask('a');
      expect((await finished('a')).payload).toMatchObject({ session_id: 'replay-a' });
      await ask('b');
      await finished('b');
      await Promise.all(open.splice(0).map((worker) => worker.close()));
      await way.close();
    },
    MINUTE,
  );

  it('aborts what it runs when it closes, says so, and takes no more', async () => {
    let started = (): void => undefined;
    const running = new Promise<void>((resolve) => (started = resolve));
    const worker = await work(({ signal }) => {
      started();
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    await ask('a');
    await running;
    await worker.close();
    await ask('b');
    expect((await finished('a')).payload).toMatchObject({ error: expect.stringContaining('closes') });
    await sleep(200);
    expect(of('b')).toEqual([]);
    await worker.close();
    await work(() => undefined);
    await finished('b');
  });

  it('may use a connection of the host, which stays open', async () => {
    const own = await nats.connect('host');
    const worker = await replayWorker(() => undefined, { connection: own, project });
    await ask('a');
    await finished('a');
    await worker.close();
    expect(own.isClosed()).toBe(false);
  });
});
