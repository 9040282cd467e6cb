import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { verifier, type VerifyRequest } from '#client';
import { healthChanged, LIVE_PREFIX, SYSTEM_PROJECT, type Notice, type PayloadOf, type Readiness } from '#contracts';
import type { TurnInput } from '#recordings';
import { answerJson, eventually, modelServer, status, testDatabase, type ModelServer, type TestDatabase } from '#testing';
import { GatewayProcess } from '../support/gateway.js';
import { callsIn, questionOf } from '../support/hashed-judge.js';
import { Loop, serviceEnv, type LoopOptions } from '../support/loop.js';
import { ownNats, type OwnServer } from '../support/own-servers.js';

const MINUTE = 60_000;
const PROVIDER = 'judge:fake-judge';

type HealthEvent = PayloadOf<typeof healthChanged>;

/** A judge that believes what the answer says of itself: "60 of 100 parts are done" is 0.6. */
function believingJudge(request: Parameters<typeof questionOf>[0]) {
  const { name, material } = questionOf(request);
  const [, done = '0'] = /(\d+) of 100 parts/.exec(material) ?? [];
  const answers: Record<string, unknown> = {
    task_and_outcome: { task: 'All 100 parts.', outcome: `${done} of 100 parts are done.` },
    task_completion: { reason: `Only ${done} parts are there.`, verdict: Number(done) / 100 },
    tools: { asked: 'All 100 parts.', called: [], available: [] },
    tool_correctness: { reason: 'Nothing asked for a refund.', verdict: 0.2 },
    argument_correctness: { verdicts: callsIn(material).map((id) => ({ id, reason: 'fits', correct: 'yes' })) },
  };
  return answerJson(answers[name]);
}

/** A turn that calls a tool and says how much of its task is done. */
function turn(session: string, index: number, done: number, endState: unknown = null): TurnInput {
  const at = 1_790_000_000_000_000 + index * 60_000_000;
  const trace = `${session}-t${index}`;
  return {
    ...{ session_id: session, turn_index: index, status: 'completed', started_at: at, end_state: endState },
    traces: [
      {
        ...{ trace_id: trace, name: 'turn', started_at: at, ended_at: at + 9 },
        ...{ input: 'Please do all 100 parts.', output: `${done} of 100 parts are done.` },
        spans: [
          {
            span_id: `${trace}-c`,
            name: 'refund',
            kind: 'TOOL',
            status: 'OK',
            started_at: at + 1,
            ended_at: at + 2,
            input: { cents: 1 },
            output: 'ok',
          },
        ],
      },
    ],
  };
}

describe('the loop with judges, every service a process of its own', () => {
  let nats: OwnServer;
  let database: TestDatabase;
  let model: ModelServer;
  let loop: Loop;
  let gateway: GatewayProcess | undefined;
  const health: HealthEvent[] = [];

  beforeAll(async () => {
    [nats, database, model] = await Promise.all([ownNats(), testDatabase(), modelServer(believingJudge)]);
    const options: LoopOptions = {
      natsUrl: nats.url,
      databaseUrl: database.url,
      env: {
        FLEETMEND_JUDGE_MODEL: 'fake-judge',
        FLEETMEND_JUDGE_BASE_URL: model.url,
        FLEETMEND_JUDGE_API_KEY: 'a-secret',
        FLEETMEND_MODEL_PRICES: '{"fake-judge":{"input":1,"output":2}}',
      },
    };
    loop = await Loop.open(options);
    gateway = await GatewayProcess.prepare(serviceEnv(options));
    loop.nats.subscribe(`${LIVE_PREFIX}.${healthChanged.subject(SYSTEM_PROJECT, 'scoring')}`, {
      callback: (_error, message) => {
        const event = message.json<HealthEvent>();
        if (event.dependency.startsWith('judge_blocked:')) health.push(event);
      },
    });
    loop.start();
    gateway?.service.start();
  }, MINUTE);

  beforeEach(() => model.script(believingJudge));

  afterAll(async () => {
    await gateway?.service.kill();
    await loop.close();
    await nats.drop();
    await database.drop();
    await model.close();
  }, MINUTE);

  /** The notices of a project as it was told of them. */
  async function listen(project: string): Promise<Notice[]> {
    const posted: Notice[] = [];
    loop.nats.subscribe(`${LIVE_PREFIX}.fm.${project}.notice.posted.>`, {
      callback: (_error, message) => void posted.push(message.json<Notice>()),
    });
    await loop.createProject(project);
    return posted;
  }

  it('judges turns, fires when they get worse, judges their tools, and says in its notice what the judge said', async () => {
    const posted = await listen('falling');
    await loop.publish(
      'falling',
      [90, 92, 40].map((done, index) => turn('s', index, done)),
    );
    await eventually(() => posted.length > 0, 20_000);
    await loop.quiet();
    expect(posted).toHaveLength(1);
    const [notice] = posted;
    expect(notice).toMatchObject({ session_id: 's', turn_index: 2, severity: 'breach' });
    expect(notice?.signatures).toEqual(['breach:tool_correctness', 'regression:task_completion']);
    expect(notice?.metrics).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ metric: 'task_completion', tier: 1, value: 0.4, reason: 'Only 40 parts are there.' }),
        expect.objectContaining({ metric: 'tool_correctness', tier: 2, value: 0.2, reason: 'Nothing asked for a refund.' }),
      ]),
    );
    const scores = await loop.rows<{ t: number; metric: string; value: number; evaluator: string }>(
      `SELECT t::int, metric, value, evaluator FROM scoring.scores JOIN scoring.sessions USING (s)
       WHERE project = 'falling' AND source = 'judge' ORDER BY t, tier, metric`,
    );
    expect(scores.map(({ t, metric, value }) => [t, metric, value])).toEqual([
      [0, 'task_completion', 0.9],
      [1, 'task_completion', 0.92],
      [2, 'task_completion', 0.4],
      [2, 'argument_correctness', 1],
      [2, 'tool_correctness', 0.2],
    ]);
    for (const { evaluator } of scores) expect(evaluator).toMatch(/^judge\/fake-judge\/[0-9a-f]{16}$/);
    const [usage] = await loop.rows<{ calls: number; cost: number }>(
      "SELECT sum(calls)::int AS calls, sum(cost_usd) AS cost FROM scoring.usage WHERE project = 'falling'",
    );
    // Two a turn; the tools of the last one: two, two more to confirm the breach, and one for the arguments.
    expect(usage?.calls).toBe(3 * 2 + 4 + 1);
    expect(usage?.calls).toBe(model.requests.length);
    expect(usage?.cost).toBeCloseTo((11 * (12 * 1 + 7 * 2)) / 1e6, 12);
  });

  it('asks the verifier of the user, and says in its notice what the verifier said', async () => {
    const posted = await listen('verified');
    const asked: VerifyRequest[] = [];
    const connected = await verifier({
      url: nats.url,
      project: 'verified',
      verify: (request) => {
        asked.push(request);
        const { paid } = request.end_state as { paid: boolean };
        return { value: paid, reason: paid ? 'the money came' : 'no money came' };
      },
    });
    try {
      await loop.publish('verified', [turn('v', 0, 90, { paid: true })]);
      await eventually(() => asked.length === 1, 20_000);
      await loop.quiet();
      await loop.publish('verified', [turn('v', 1, 91, { paid: true }), turn('v', 2, 92, { paid: false })]);
      await eventually(() => posted.length > 0, 20_000);
      await loop.quiet();
      expect(asked.map(({ turn_index: index }) => index).sort()).toEqual([0, 1, 2]);
      expect(posted).toHaveLength(1);
      expect(posted[0]).toMatchObject({ turn_index: 2, signatures: ['breach:outcome_correct'] });
      expect(posted[0]?.metrics).toEqual([
        expect.objectContaining({ metric: 'outcome_correct', tier: 0, value: 0, reason: 'no money came' }),
      ]);
    } finally {
      await connected.close();
    }
  });

  it('says once that the judge refuses the key, stays ready, asks little meanwhile, and goes on by itself', async () => {
    await listen('locked');
    health.length = 0;
    const before = model.requests.length;
    model.script(() => status(401, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }));
    const turns = Array.from({ length: 60 }, (_, index) => turn(`l${index % 10}`, Math.floor(index / 10), 80 + (index % 10)));
    await loop.publish('locked', turns);
    await eventually(() => health.length > 0, 20_000);
    const name = `judge_blocked:locked:${PROVIDER}`;
    expect(health[0]).toMatchObject({ service: 'scoring', status: 'degraded', dependency: name });
    if (gateway !== undefined) await eventually(async () => (await ready()).body.status === 'degraded', 10_000);
    const known = gateway === undefined ? undefined : await ready();
    if (known !== undefined) {
      expect(known.status).toBe(200);
      expect(Object.keys(known.body.degraded)).toEqual([`scoring.${name}`]);
    }
    // Those that were claimed until it was written down.
    const refused = model.requests.length - before;
    expect(refused).toBeLessThanOrEqual(15);
    // The lane looks for jobs every second.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(model.requests.length - before).toBe(refused);

    model.script(believingJudge);
    // The minute until it is tried again is skipped.
    await loop.db.query('UPDATE scoring.provider_blocks SET probe_at = now()');
    await eventually(() => health.length > 1, 20_000);
    await loop.quiet();
    expect(health.map((event) => [event.dependency, event.status])).toEqual([
      [name, 'degraded'],
      [name, 'ok'],
    ]);
    if (gateway !== undefined) expect((await ready()).body.degraded).toEqual({});
    const values = await loop.rows<{ value: number }>(
      "SELECT value FROM scoring.scores JOIN scoring.sessions USING (s) WHERE project = 'locked' AND source = 'judge' AND status = 'scored' ORDER BY value",
    );
    expect(values.map(({ value }) => Math.round(value * 100))).toEqual(turns.map((_, index) => 80 + Math.floor(index / 6)));
    expect(await loop.violations()).toEqual([]);
  });

  async function ready(): Promise<{ status: number; body: Readiness }> {
    const response = await fetch(`${gateway?.url ?? ''}/readyz`);
    return { status: response.status, body: (await response.json()) as Readiness };
  }

  it('never lost a process', () => {
    for (const { name, crashes, output } of loop.services)
      expect({ name, crashes, output: crashes > 0 ? output : '' }).toEqual({ name, crashes: 0, output: '' });
  });
});
