import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricResponder, type Responder } from '#client';
import { rpcSubject, type MetricRequest, type ProjectSettingsPatch } from '#contracts';
import { eventually, testNats, type TestNats } from '#testing';
import type { JobDesk } from './job-desk.js';
import { saying, Scene, trace, turn } from './scene.js';

let nats: TestNats;
let connection: NatsConnection;
let scene: Scene;
let desk: JobDesk;
const open: { close(): Promise<unknown> }[] = [];
beforeAll(async () => {
  nats = await testNats();
  connection = await nats.connect('scoring');
});
afterAll(() => nats.drop());
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await scene.close();
});

const stage = async (
  metrics: ProjectSettingsPatch['metrics'],
  more: ProjectSettingsPatch = {},
  hosts: string[] = [],
): Promise<void> => {
  scene = await Scene.open({ metrics, tier1_metrics: Object.keys(metrics ?? {}), gate_window: 1, gate_target: 1, ...more });
  desk = await scene.desk({ webhook_hosts: hosts }, connection);
};
const scoreNow = async (): Promise<Record<string, unknown> | undefined> => {
  await desk.all('own');
  return (scene.answers(1).at(-1)?.['scores'] as Record<string, unknown>[] | undefined)?.[0];
};

async function webhook(
  respond: (response: ServerResponse, request: MetricRequest) => void,
): Promise<{ host: string; asked: MetricRequest[] }> {
  const asked: MetricRequest[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const question = JSON.parse(Buffer.concat(chunks).toString()) as MetricRequest;
      asked.push(question);
      respond(response, question);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => new Promise((resolve) => server.close(resolve)) });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe('a metric of a project: its own judge', () => {
  it('is asked with the template filled in, and its answer becomes a value', async () => {
    await stage({
      politeness: {
        kind: 'judge',
        prompt: 'How polite is {{answer}} to {{request}}?',
        output: { kind: 'score', min: 0, max: 10 },
      },
    });
    scene.models.script(() => saying(1, { answer: 4 }));
    await scene.pipeline.ended(turn(0));
    await desk.all('judge');
    expect(scene.answers()).toMatchObject([
      { scores: [{ metric: 'politeness', status: 'scored', value: 0.4, source: 'judge' }] },
    ]);
    const sent = JSON.stringify(scene.models.requests[0]?.body);
    expect(sent).toContain('How polite is');
    expect(sent).toContain('where is my parcel');
  });

  it('waits without a model, is answered at once with the rest pending, and is given up in time', async () => {
    await stage({ politeness: { kind: 'judge', prompt: '{{answer}}?', output: { kind: 'boolean' } } }, { judge_model: null });
    await scene.pipeline.ended(turn(0));
    expect(scene.answers()).toMatchObject([
      {
        answer: 1,
        pending: true,
        scores: [{ status: 'pending', value: null, code: 'no_model', reason: expect.stringContaining('judge_model') }],
      },
    ]);
    expect(await desk.all('judge')).toBe(0);
    await scene.query('UPDATE scoring.score_jobs SET expires_at = now()');
    await desk.store.expire();
    expect(scene.answers()[1]).toMatchObject({
      answer: 2,
      pending: false,
      scores: [{ status: 'failed', value: null, code: 'expired', reason: expect.stringContaining('judge_model') }],
    });
    await scene.pipeline.settle();
    expect(await scene.query(`SELECT 1 FROM gating.turn_evals WHERE fired <> '{}'`)).toEqual([]);
  });
});

describe('a metric of a project: its webhook', () => {
  const metrics = (host: string): ProjectSettingsPatch['metrics'] => ({
    style: { kind: 'webhook', url: `http://${host}/style`, timeout_s: 5 },
  });

  it('is asked about every trace, once, and its answer is the score', async () => {
    const { host, asked } = await webhook((response, { answer }) =>
      response.end(JSON.stringify({ value: 0.25, reason: `said ${answer}` })),
    );
    await stage(metrics(host), {}, [host]);
    await scene.pipeline.ended(turn(0, { traces: [trace('t0'), trace('t1')], end_state: { done: true } }));
    await scoreNow();
    expect(scene.answers()).toMatchObject([
      {
        answer: 1,
        pending: false,
        scores: [
          { trace_id: 't0', value: 0.25, source: 'webhook', reason: 'said it is here' },
          { trace_id: 't1', value: 0.25 },
        ],
      },
    ]);
    expect(
      asked.map(({ metric, session_id, turn_index, request, end_state }) => [metric, session_id, turn_index, request, end_state]),
    ).toEqual(Array(2).fill(['style', 's', 0, 'where is my parcel', { done: true }]));
    expect(await scene.query('SELECT 1 FROM scoring.usage')).toEqual([]);
  });

  it.each<[string, string, object]>([
    [
      'null',
      '{"value":null,"reason":"no style here"}',
      { status: 'not_applicable', value: null, code: 'no_verdict', reason: 'no style here' },
    ],
    ['a bare number', '1', { status: 'scored', value: 1 }],
    ['false', '{"value":false}', { status: 'scored', value: 0 }],
    ['an error', '{"error":"out of ink"}', { status: 'failed', value: null, code: 'evaluator_error', reason: 'out of ink' }],
    [
      'a value above 1',
      '{"value":7}',
      { status: 'failed', value: null, code: 'invalid_answer', reason: expect.stringContaining('{"value":7}') },
    ],
    ['a value below 0', '{"value":-0.01}', { status: 'failed', value: null, code: 'invalid_answer' }],
    ['something else', '{"score":0.5}', { status: 'failed', value: null, code: 'invalid_answer' }],
    ['no JSON', '<html>', { status: 'failed', value: null, code: 'invalid_answer' }],
    ['nothing', '', { status: 'failed', value: null, code: 'invalid_answer' }],
    ['what no database takes', '{"value":0.5,"reason":"a\\u0000b\\ud800"}', { status: 'scored', value: 0.5 }],
  ])('that answers %s', async (_, body, score) => {
    const { host } = await webhook((response) => response.end(body));
    await stage(metrics(host), {}, [host]);
    await scene.pipeline.ended(turn(0));
    expect(await scoreNow()).toMatchObject(score);
    expect(await scene.jobs()).toBe(0);
    if ((score as { status: string }).status === 'failed') expect(await scene.journal()).toEqual(['score_failed']);
  });

  it('on a host that is not allowed is never called: blocked, said once, and asked when it is', async () => {
    const { host, asked } = await webhook((response) => response.end('1'));
    await stage(metrics(host));
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.all('own');
    expect(asked).toEqual([]);
    expect(await scene.query('SELECT provider, code, detail FROM scoring.provider_blocks')).toEqual([
      { provider: 'webhook:style', code: 'config', detail: expect.stringContaining('webhook_hosts') },
    ]);
    expect(await scene.journal()).toEqual(['judge_blocked']);
    const allowed = await scene.desk({ webhook_hosts: [host] }, connection);
    await scene.later();
    await allowed.all('own');
    expect(scene.answers()).toHaveLength(2);
    expect(await scene.journal()).toEqual(['judge_blocked', 'judge_resumed']);
  });

  it('that is down is said of itself alone, while that of another project is well', async () => {
    const { host } = await webhook((response, { session_id }) =>
      session_id === 'down' ? response.writeHead(500).end() : response.end('1'),
    );
    await stage(metrics(host), {}, [host]);
    await scene.project('other', { metrics: metrics(host), tier1_metrics: ['style'] });
    const changes: string[] = [];
    desk.health.onChange(({ dependency, status }) => changes.push(`${dependency} ${status}`));
    await scene.pipeline.ended(turn(0, { session_id: 'down' }));
    await desk.once('own');
    scene.pipeline.project = 'other';
    await scene.pipeline.ended(turn(0), turn(1));
    await desk.all('own');
    expect(changes).toEqual(['default webhook:style degraded']);
  });

  it('that refuses one trace does not stop the others', async () => {
    const { host } = await webhook((response, { session_id }) =>
      session_id === 'odd' ? response.writeHead(422).end('cannot read it') : response.end('1'),
    );
    await stage(metrics(host), {}, [host]);
    await scene.pipeline.ended(turn(0, { session_id: 'odd' }), turn(0), turn(1));
    await desk.all('own');
    expect(scene.answers().filter(({ session_id }) => session_id === 's')).toHaveLength(2);
    expect(scene.answers().find(({ session_id }) => session_id === 'odd')).toMatchObject({
      scores: [{ status: 'failed', code: 'evaluator_error', reason: 'the webhook answered 422: cannot read it' }],
    });
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
  });
});

describe('a metric of a project: its responder', () => {
  const metrics: ProjectSettingsPatch['metrics'] = { style: { kind: 'responder', timeout_s: 0.3 } };
  const respond = async (evaluate: (request: MetricRequest) => unknown): Promise<Responder> => {
    const options = { url: nats.url, project: 'default', metric: 'style' };
    const responder = await metricResponder({ ...options, evaluate: evaluate as never, onError: () => undefined });
    open.push(responder);
    return responder;
  };

  it.each<[string, (request: MetricRequest) => unknown, object]>([
    [
      'a value and a reason',
      ({ answer }) => ({ value: 0.75, reason: `said ${answer}` }),
      { status: 'scored', value: 0.75, reason: 'said it is here', source: 'responder' },
    ],
    ['null', () => null, { status: 'not_applicable', value: null }],
    ['true', () => true, { status: 'scored', value: 1 }],
    ['what is out of range', () => 3, { status: 'failed', value: null, code: 'evaluator_error' }],
    [
      'by throwing',
      () => Promise.reject(new Error('no ink')),
      { status: 'failed', value: null, code: 'evaluator_error', reason: 'no ink' },
    ],
  ])('that answers %s', async (_, evaluate, score) => {
    await stage(metrics);
    await respond(evaluate);
    await scene.pipeline.ended(turn(0));
    expect(await scoreNow()).toMatchObject(score);
  });

  it('that is not there rests, and is asked when it is', async () => {
    await stage(metrics);
    await scene.pipeline.ended(turn(0), turn(1));
    expect(await scoreNow()).toBeUndefined();
    expect(await scene.query('SELECT provider, code FROM scoring.provider_blocks')).toEqual([
      { provider: 'responder:style', code: 'unavailable' },
    ]);
    expect(await scene.journal()).toEqual([]);
    await respond(() => 1);
    expect(await scoreNow()).toBeUndefined();
    await scene.later();
    await scoreNow();
    expect(scene.answers()).toHaveLength(2);
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
  });

  it('that is too slow delays its job only', async () => {
    await stage(metrics);
    const silent = connection.subscribe(rpcSubject('default', 'metric', 'style'));
    await scene.pipeline.ended(turn(0));
    expect(await scoreNow()).toBeUndefined();
    silent.unsubscribe();
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
    expect(await scene.query(`SELECT attempts, last_error FROM scoring.score_jobs WHERE lane = 'own'`)).toEqual([
      { attempts: 1, last_error: expect.stringMatching(/no answer on fm\.default\.rpc\.metric\.style within 300 ms/) },
    ]);
  });

  it('cannot be shown a trace that no message holds: that score has failed, and the others go on', async () => {
    await stage(metrics);
    await respond(() => 1);
    const huge = trace('t0', { output: 'x'.repeat((connection.info?.max_payload ?? 0) + 1) });
    await scene.pipeline.ended(turn(0, { traces: [huge] }), turn(1));
    await desk.all('own');
    expect(scene.answers().find(({ turn_index }) => turn_index === 0)).toMatchObject({
      scores: [{ status: 'failed', value: null, code: 'too_large' }],
    });
    expect(scene.answers().find(({ turn_index }) => turn_index === 1)).toMatchObject({ scores: [{ value: 1 }] });
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
  });

  it('is let go when the process stops', async () => {
    await stage({ style: { kind: 'responder', timeout_s: 600 } });
    const silent = connection.subscribe(rpcSubject('default', 'metric', 'style'), { callback: () => desk.abort.abort() });
    await scene.pipeline.ended(turn(0));
    expect(await desk.once('own')).toBe(1);
    silent.unsubscribe();
    expect(await scene.query(`SELECT lease, attempts FROM scoring.score_jobs WHERE lane = 'own'`)).toEqual([
      { lease: null, attempts: 0 },
    ]);
  });
});

describe('an evaluator that never answers', () => {
  it('is left alone after three times in a row, tried by one job, and asked by all when it answers again', async () => {
    let hangs = true;
    const { host, asked } = await webhook((response) => {
      if (!hangs) response.end('{"value":1}');
    });
    await stage({ style: { kind: 'webhook', url: `http://${host}/`, timeout_s: 0.1 } }, {}, [host]);
    await scene.pipeline.ended(...Array.from({ length: 6 }, (_, index) => turn(index)));
    const rest = async (): Promise<number> => {
      const [row] = await scene.query<{ s: number }>(
        `SELECT extract(epoch FROM probe_at - now())::float8 AS s FROM scoring.provider_blocks`,
      );
      return row?.s ?? 0;
    };
    expect([await desk.once('own', 1), await desk.once('own', 1), await rest()]).toEqual([1, 1, 0]);
    expect(await desk.once('own', 1)).toBe(1);
    expect(await rest()).toBeGreaterThan(3);
    expect(await desk.all('own')).toBe(0);
    expect(Object.keys(desk.health.current)).toEqual(['default webhook:style']);
    await scene.later();
    expect(await desk.all('own')).toBe(1);
    expect(await rest()).toBeGreaterThan(8);
    expect(asked).toHaveLength(4);
    hangs = false;
    await scene.later();
    expect(await desk.all('own')).toBe(6);
    expect(scene.answers().filter(({ pending }) => pending === false)).toHaveLength(6);
    expect(desk.health.current).toEqual({});
  });

  it('keeps its own project waiting, and nobody else', async () => {
    const hanging = await webhook(() => undefined);
    const quick = await webhook((response) => response.end('{"value":1}'));
    const metrics = (host: string) => ({ style: { kind: 'webhook', url: `http://${host}/`, timeout_s: 600 } }) as const;
    await stage(metrics(hanging.host), {}, [hanging.host, quick.host]);
    await scene.project('other', { metrics: metrics(quick.host), tier1_metrics: ['style'] });
    await scene.pipeline.ended(
      ...Array.from({ length: 4 }, (_, index) =>
        turn(index, { traces: Array.from({ length: 16 }, (_each, n) => trace(`t${index}-${n}`)) }),
      ),
    );
    const lanes = desk.lanes;
    lanes.onApplicationBootstrap();
    // Eight slots are there: all but one are taken, and asked in vain.
    await eventually(() => hanging.asked.length >= 7);
    scene.pipeline.project = 'other';
    await scene.pipeline.ended(...Array.from({ length: 10 }, (_, index) => turn(index)));
    lanes.nudge();
    await eventually(() => quick.asked.length === 10, 10_000);
    expect(hanging.asked).toHaveLength(7);
    const [{ held } = { held: 0 }] = await scene.query<{ held: number }>(
      `SELECT sum(evals)::int AS held FROM scoring.score_jobs WHERE project = 'default' AND lease IS NOT NULL`,
    );
    expect(held).toBe(16);
    await lanes.onApplicationShutdown();
    expect(await scene.query(`SELECT 1 FROM scoring.score_jobs WHERE lane = 'own' AND lease IS NOT NULL`)).toEqual([]);
  });
});
