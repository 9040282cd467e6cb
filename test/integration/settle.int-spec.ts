import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Svcm } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import { randomUUID } from 'node:crypto';
import { rpcSubject, type RepairResult, type SettleAnswer } from '#contracts';
import { eventually } from '#testing';
import { openGateway, type Fixture } from '../../services/gateway/test/fixture.js';
import { Pipeline, type Event } from './pipeline.js';

const MINUTE = 60_000;
const LEASE_S = 30;

let pipeline: Pipeline;
let gateway: Fixture;
let nats: NatsConnection;

beforeAll(async () => {
  pipeline = await Pipeline.open({ tier1_metrics: ['task_completion'], circuit_breaker_max_notices: 0, coalesce: 'fleet' });
  gateway = await openGateway({ database_url: pipeline.db.url });
  nats = await gateway.nats.connect('asker');
}, MINUTE);
afterAll(async () => {
  await gateway.close();
  await pipeline.close();
}, MINUTE);

/** A turn whose host says how far it came; below 0.9 its one tool call failed too. `error` is what makes a fault another one. */
const turn = (session: string, index: number, completion: number, error = session): object => ({
  session_id: session,
  turn_index: index,
  scores: [{ metric: 'task_completion', value: completion, trace_id: `${session}-${index}` }],
  tools: [{ name: 'pay' }],
  traces: [
    {
      ...{ trace_id: `${session}-${index}`, started_at: 1_790_000_000 + index, input: 'pay it', output: 'done' },
      spans: [
        {
          ...{
            span_id: `${session}-${index}-1`,
            name: 'pay',
            kind: 'TOOL',
            status: completion < 0.9 ? 'ERROR' : 'OK',
            input: {},
            output: {},
          },
          ...{ started_at: 1_790_000_000 + index, error: completion < 0.9 ? error : undefined },
        },
      ],
    },
  ],
});

/** A session that falls: turn 1 alerts, and opens an episode. */
async function falls(session: string, error?: string): Promise<string> {
  await pipeline.ended(turn(session, 0, 0.95));
  await pipeline.ended(turn(session, 1, 0.2, error));
  await pipeline.settle();
  const rows = await pipeline.db.query<{ id: string }>(
    "SELECT id FROM mailbox.episodes WHERE session = $1 AND status IN ('open', 'claimed')",
    [session],
  );
  return rows[0]?.id ?? '';
}

interface Asked extends SettleAnswer {
  readonly httpStatus: number;
}
async function settle(session: string, turn_index?: number, timeout_s = 20, signal?: AbortSignal): Promise<Asked> {
  const response = await fetch(`${gateway.url}/v1/sessions/${session}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ turn_index, timeout_s }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { httpStatus: response.status, ...((await response.json()) as SettleAnswer) };
}

const enqueue = (...episodes: string[]) => pipeline.db.query('SELECT repair.enqueue($1::text[])', [episodes]);
async function claim(): Promise<{ lease: string; episode: string; notices: string[] }> {
  const lease = randomUUID();
  const rows = await pipeline.db.query<{ job: { episode: string; notice_ids: string[] } | null }>(
    'SELECT repair.claim($1, $2, $3) AS job',
    [lease, LEASE_S, JSON.stringify([{ project: 'default', per_hour: 0, usd: 0, observe: false }])],
  );
  const job = rows[0]?.job;
  if (job == null) throw new Error('nothing to claim');
  return { lease, episode: job.episode, notices: job.notice_ids };
}
const resultOf = (episode: string, more: Partial<RepairResult>): RepairResult => ({
  ...{ episode_id: episode, incident_id: 'i', session_id: 's', turn_index: 1, notice_ids: [], run: 1, status: 'no_proposal' },
  ...{ candidate_rule_id: null, existing_rule_id: null, recommended_scope: null, selected_scope: null, scope_rationale: null },
  ...{ considered_rule_ids: [], suppression_reason: null, error_category: null, note: null, turns: 1, tool_calls: 1, model: 'm' },
  ...{
    usage: { calls: 1, input_tokens: 5, output_tokens: 5, cost_usd: 0, notes: [] },
    decided_by: null,
    started_at: 0,
    ended_at: 0,
  },
  ...more,
});
async function repairs(more: Partial<RepairResult> = {}): Promise<void> {
  const { lease, episode, notices } = await claim();
  await pipeline.db.query('SELECT repair.settle($1, $2, $3::text[], $4)', [
    ...[episode, lease, notices, JSON.stringify(resultOf(episode, { notice_ids: notices, ...more }))],
  ]);
}
async function failsToRepair(afterS: number): Promise<void> {
  const { lease, episode } = await claim();
  const result = resultOf(episode, { status: 'failed', error_category: 'turn_limit' });
  await pipeline.db.query('SELECT repair.give_back($1, $2, $3, true, $4, false)', [
    episode,
    lease,
    JSON.stringify(result),
    afterS,
  ]);
}

/** Whether a question is still waiting after several looks at the tables. */
async function stillWaiting(question: Promise<unknown>): Promise<boolean> {
  const pause = new Promise<string>((resolve) => setTimeout(() => resolve('waiting'), 400));
  return (await Promise.race([question, pause])) === 'waiting';
}
/** The newest report of a turn as it was published, without what only readers of the stream need. */
function published(session: string, index: number): unknown {
  const all = pipeline.of('.turn.evaluated').map(({ payload: { changed_from: _, ...report } }) => report);
  return all.findLast(({ session_id, turn_index }) => session_id === session && turn_index === index);
}
const reports = ({ subject }: Event): boolean => subject.endsWith('.turn.evaluated');
const scores = ({ subject }: Event): boolean => subject.endsWith('.trace.scored');

describe('a turn without a problem', () => {
  it('is settled with its report as it was published, though no report of it is kept', async () => {
    await pipeline.ended(turn('well', 0, 0.95));
    await pipeline.ended(turn('well', 1, 0.97));
    await pipeline.settle();
    const { httpStatus, report, ...rest } = await settle('well', 1);
    expect(httpStatus).toBe(200);
    expect(rest).toEqual({ session_id: 'well', turn_index: 1, repair: null, timed_out: false, skipped: null, waiting: null });
    expect(report).toEqual(published('well', 1));
    expect((await settle('well')).turn_index).toBe(1);
  });
  it('is waited for until it is stored and reported', async () => {
    const waiting = settle('coming', 0);
    expect(await stillWaiting(waiting)).toBe(true);
    await pipeline.ended(turn('coming', 0, 0.95));
    await pipeline.settle(scores);
    expect(await stillWaiting(waiting)).toBe(true);
    await pipeline.settle();
    expect(await waiting).toMatchObject({ timed_out: false, report: { session_id: 'coming', turn_index: 0, signatures: [] } });
  });
  it('is settled before one that comes after it and has a problem', async () => {
    await falls('later-trouble');
    expect(await settle('later-trouble', 0)).toMatchObject({ timed_out: false, turn_index: 0, waiting: null, repair: null });
  });
});

describe('a time-out', () => {
  it('says what was waited for, and leaves the work going on', async () => {
    expect(await settle('nobody', 3, 0.1)).toMatchObject({ timed_out: true, waiting: 'turn', turn_index: 3, report: null });
    expect(await settle('nobody', undefined, 0)).toMatchObject({ timed_out: true, waiting: 'turn', turn_index: null });
    await pipeline.ended(turn('slow', 0, 0.95));
    expect(await settle('slow', 0, 0.1)).toMatchObject({ timed_out: true, waiting: 'report', report: null });
    await pipeline.settle();
    expect(await settle('slow', 0)).toMatchObject({ timed_out: false, report: { turn_index: 0 } });
  });
  it("is the project's own without another", async () => {
    await pipeline.db.query(
      `INSERT INTO edge.settings (project, version, doc, author) SELECT 'default', 2, doc || '{"barrier_timeout_s": 0.2}', 'test' FROM edge.settings WHERE project = 'default' AND version = 1`,
    );
    const { body } = await eventually(async () => {
      const answer = await gateway.call('POST', '/v1/sessions/nobody/settle', { body: { turn_index: 9, timeout_s: null } });
      return answer.status === 200 ? answer : undefined;
    });
    expect(body).toMatchObject({ timed_out: true, waiting: 'turn' });
  });
});

describe('notices', () => {
  it('are waited for, those of earlier turns and recoveries too', async () => {
    await pipeline.ended(turn('posting', 0, 0.95), turn('posting', 1, 0.2), turn('posting', 2, 0.97));
    await pipeline.settle(reports);
    const [alerting, recovered] = [settle('posting', 1, 0.3), settle('posting', 2, 0.3)];
    expect(await alerting).toMatchObject({ timed_out: true, waiting: 'notices', report: { severity: 'breach' } });
    expect(await recovered).toMatchObject({ timed_out: true, waiting: 'notices' });
    await pipeline.settle();
    expect(await settle('posting', 1, 0.3)).toMatchObject({ timed_out: true, waiting: 'repair' });
    expect(await settle('posting', 2, 0.3)).toMatchObject({ timed_out: true, waiting: 'repair' });
  });
  it('are waited for again when the report of a turn says something else', async () => {
    await pipeline.ended(turn('revised', 0, 0.95), turn('revised', 1, 0.96));
    await pipeline.settle();
    await pipeline.verified('revised', 1, 0.1);
    await pipeline.settle(reports);
    expect(await settle('revised', 1, 0.3)).toMatchObject({ timed_out: true, waiting: 'notices', report: { revision: 2 } });
    await pipeline.settle();
    expect(await settle('revised', 1, 0.3)).toMatchObject({ timed_out: true, waiting: 'repair' });
  });
});

it('a turn that was skipped is settled at once, with the reason', async () => {
  await pipeline.db.query(`INSERT INTO edge.projects (project) VALUES ('sampled')`);
  await pipeline.db.query(
    `INSERT INTO edge.settings (project, version, doc, author) VALUES ('sampled', 1, '{"eval_sample_every": 5}', 'test')`,
  );
  expect(await pipeline.directory.exists('sampled')).toBe(true);
  pipeline.project = 'sampled';
  await pipeline.ended(turn('thin', 0, 0.95), turn('thin', 1, 0.2));
  pipeline.project = 'default';
  const reply = await nats.request(rpcSubject('sampled', 'settle'), JSON.stringify({ session_id: 'thin', turn_index: 1 }), {
    timeout: 5_000,
  });
  expect(reply.json()).toMatchObject({ timed_out: false, skipped: 'sampling', report: null, repair: null });
  pipeline.project = 'sampled';
  await pipeline.settle();
  pipeline.project = 'default';
});

describe('a repair', () => {
  it('is waited for, and its result returned to all who wait and to whoever asks later', async () => {
    await enqueue(await falls('healed'));
    const waiting = [settle('healed', 1), settle('healed', 1)];
    expect(await stillWaiting(Promise.race(waiting))).toBe(true);
    await repairs({ note: 'nothing to learn' });
    const answers = [...(await Promise.all(waiting)), await settle('healed', 1)];
    for (const answer of answers)
      expect(answer).toMatchObject({
        timed_out: false,
        waiting: null,
        repair: { status: 'no_proposal', note: 'nothing to learn' },
      });
    expect(answers[0]?.report).toEqual(published('healed', 1));
    // Another turn of the session is not told of a repair that was over before.
    await pipeline.ended(turn('healed', 2, 0.97));
    await pipeline.settle();
    expect(await settle('healed', 2)).toMatchObject({ timed_out: false, repair: null });
  });
  it('that resolves nothing is one repair too; the next question waits for the next run', async () => {
    await enqueue(await falls('stubborn'));
    const waiting = settle('stubborn', 1);
    expect(await stillWaiting(waiting)).toBe(true);
    await failsToRepair(600);
    expect(await waiting).toMatchObject({
      timed_out: false,
      waiting: 'backoff',
      repair: { status: 'failed', error_category: 'turn_limit' },
    });
    expect(await settle('stubborn', 1, 0.5)).toMatchObject({ timed_out: false, waiting: 'backoff', repair: null });
    await pipeline.db.query("UPDATE repair.work SET run_after = now() WHERE session = 'stubborn'");
    const again = settle('stubborn', 1);
    expect(await stillWaiting(again)).toBe(true);
    await repairs();
    expect(await again).toMatchObject({ timed_out: false, waiting: null, repair: { status: 'no_proposal' } });
  });
  it('of the same fault in another session decides this one too', async () => {
    const first = await falls('fleet-a', 'the same fault');
    const second = await falls('fleet-b', 'the same fault');
    await enqueue(first);
    const waiting = settle('fleet-b', 1);
    expect(await stillWaiting(waiting)).toBe(true);
    await repairs({ status: 'duplicate', existing_rule_id: 'r-1' });
    expect((await waiting).repair).toMatchObject({
      ...{ episode_id: second, session_id: 'fleet-b', turn_index: 1, status: 'duplicate', existing_rule_id: 'r-1' },
      ...{ decided_by: first, model: null, usage: { calls: 0 } },
    });
  });
  it('that waits for something else is not waited for, and the reason is said', async () => {
    const episode = await falls('poor');
    await enqueue(episode);
    for (const why of ['hourly_limit', 'cost_limit', 'observe_only', 'model']) {
      await pipeline.db.query('UPDATE repair.work SET waits_for = $2 WHERE episode = $1', [episode, why]);
      expect(await settle('poor', 1)).toMatchObject({ timed_out: false, waiting: why, report: { severity: 'breach' } });
    }
    await pipeline.db.query("UPDATE repair.work SET state = 'blocked', waits_for = 'operator' WHERE episode = $1", [episode]);
    expect(await settle('poor', 1)).toMatchObject({ timed_out: false, waiting: 'operator', repair: null });
  });
  it('that nobody takes up is not waited for', async () => {
    const episode = await falls('alone');
    expect(await stillWaiting(settle('alone', 1, 2))).toBe(true);
    await pipeline.db.query("UPDATE mailbox.episodes SET opened_at = now() - interval '6 seconds' WHERE id = $1", [episode]);
    expect(await settle('alone', 1)).toMatchObject({ timed_out: false, waiting: 'no_repair_service' });
  });
  it('is started by nobody who waits', async () => {
    const rows = await pipeline.db.query("SELECT 1 FROM repair.work WHERE session IN ('alone', 'later-trouble')");
    expect(rows).toEqual([]);
  });
});

describe('GET /v1/pending-sessions', () => {
  it('says what is in flight, newest first, page by page', async () => {
    await pipeline.ended({ session_id: 'tracing', turn_index: 4, trace_ids: ['never-comes'] });
    await pipeline.ended(turn('between', 0, 0.95));
    const seen: Record<string, unknown>[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await gateway.call('GET', `/v1/pending-sessions?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...body.items);
      cursor = body.next_cursor;
    }
    const of = (id: string): Record<string, unknown> | undefined => seen.find(({ session_id }) => session_id === id);
    expect(of('tracing')).toMatchObject({ turns: [{ turn_index: 4, waits_for: 'traces', tiers_pending: [] }], episodes: [] });
    expect(of('between')).toMatchObject({ turns: [{ turn_index: 0, waits_for: 'report' }] });
    expect(of('poor')).toMatchObject({ turns: [], episodes: [{ turn_index: 1, status: 'open', waits_for: 'operator' }] });
    expect(of('alone')).toMatchObject({ episodes: [{ waits_for: 'no_repair_service' }] });
    expect(of('healed')).toBeUndefined();
    const times = seen.map(({ since }) => since as number);
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect(new Set(seen.map(({ session_id }) => session_id)).size).toBe(seen.length);
    const { body } = await gateway.call('GET', '/v1/pending-sessions?session=poor');
    expect(body.items.map(({ session_id }) => session_id)).toEqual(['poor']);
    await pipeline.settle();
    expect((await gateway.call('GET', '/v1/pending-sessions?session=between')).body.items).toEqual([]);
  });
});

describe('over NATS', () => {
  it('the same is answered', async () => {
    const ask = (question: object) =>
      nats.request(rpcSubject('default', 'settle'), JSON.stringify(question), { timeout: 10_000 });
    expect((await ask({ session_id: 'well', turn_index: 1 })).json()).toMatchObject({
      timed_out: false,
      report: { turn_index: 1 },
    });
    expect((await ask({ session_id: 'nobody', turn_index: 1, timeout_s: 0 })).json()).toMatchObject({ timed_out: true });
  });
  it('a question that is none, and a project that is none, are told apart from an answer', async () => {
    for (const [project, question, code] of [
      ['default', '{', '422'],
      ['default', '{"turn_index": -1}', '422'],
      ['nowhere', '{"session_id": "s"}', '404'],
    ] as const) {
      const { headers } = await nats.request(rpcSubject(project, 'settle'), question, { timeout: 5_000 });
      expect(headers?.get('Nats-Service-Error-Code')).toBe(code);
    }
  });
  it('discovery lists the service', async () => {
    const client = new Svcm(nats).client();
    const infos = [];
    for await (const info of await client.info('fleetmend-loop')) infos.push(info);
    expect(infos).toMatchObject([{ name: 'fleetmend-loop', endpoints: [{ name: 'settle', subject: 'fm.*.rpc.settle' }] }]);
  });
});

it('who disconnects is not waited for any more', async () => {
  const waiting = async (): Promise<number> => {
    const { text } = await gateway.call('GET', '/metrics');
    return Number(/^fleetmend_settle_waiting\{[^}]*\} (\d+)/m.exec(text)?.[1]);
  };
  const gone = new AbortController();
  const question = settle('nobody', 77, 600, gone.signal);
  await eventually(async () => (await waiting()) === 1);
  gone.abort();
  await expect(question).rejects.toThrow();
  await eventually(async () => (await waiting()) === 0);
  expect(await waiting()).toBe(0);
});
