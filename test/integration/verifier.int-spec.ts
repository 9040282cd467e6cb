import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { verifier, type Responder } from '#client';
import { rpcSubject, type VerifyRequest } from '#contracts';
import { testNats, type TestNats } from '#testing';
import { VerifierStore } from '../../services/scoring/src/postgres/verifier-store.js';
import { ScoreStore } from '../../services/scoring/src/postgres/score-store.js';
import type { JobDesk } from './job-desk.js';
import { Scene, turn } from './scene.js';

let nats: TestNats;
let connection: NatsConnection;
let scene: Scene;
let desk: JobDesk;
const open: Responder[] = [];
beforeAll(async () => {
  nats = await testNats();
  connection = await nats.connect('scoring');
});
afterAll(() => nats.drop());
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await scene.close();
});

const stage = async (more: object = {}): Promise<void> => {
  scene = await Scene.open({ judge_model: null, verify_timeout_s: 0.5, ...more });
  desk = await scene.desk({}, connection);
};
const verifying = async (verify: (turn: VerifyRequest) => unknown): Promise<Responder> => {
  const responder = await verifier({ url: nats.url, project: 'default', verify: verify as never, onError: () => undefined });
  open.push(responder);
  return responder;
};
const outcomes = (): unknown[] =>
  scene.answers(0).map(({ turn_index, answer, scores }) => {
    const [{ status, value, reason } = {}] = scores as Record<string, unknown>[];
    return [turn_index, answer, status, value, reason];
  });
/** What the service does every second. */
const refresh = async (): Promise<void> =>
  scene.pipeline.verifiers.refresh(await new VerifierStore(desk.work, new ScoreStore()).known());
const verifierJobs = (): Promise<unknown[]> => scene.query(`SELECT t FROM scoring.score_jobs WHERE lane = 'verifier' ORDER BY t`);

describe('a project without a verifier', () => {
  it('has one turn in a while asked about; nothing waits for it and nothing is left', async () => {
    await stage();
    await scene.pipeline.ended(turn(0), turn(1));
    await scene.pipeline.ended(turn(2));
    expect(await verifierJobs()).toHaveLength(1);
    expect(scene.answers(1)).toMatchObject([{ pending: false }, { pending: false }, { pending: false }]);
    await desk.all('verifier');
    expect(await verifierJobs()).toEqual([]);
    for (const table of ['scores WHERE tier = 0', 'posted_scores', 'provider_blocks', 'verifiers', 'tier_waits'])
      expect(await scene.query(`SELECT 1 FROM scoring.${table}`)).toEqual([]);
    expect(await scene.journal()).toEqual([]);
    await scene.pipeline.settle();
    expect(scene.pipeline.of('.turn.evaluated').map(({ payload }) => payload['complete'])).toEqual([true, true, true]);
  });
});

describe('a verifier', () => {
  it('is found by the turn that looks for it, and asked about every turn from then on, with its end state', async () => {
    const asked: VerifyRequest[] = [];
    await stage();
    await verifying((request) => {
      asked.push(request);
      return request.turn_index === 0 ? { value: true, reason: 'parcel is there' } : 0.25;
    });
    await scene.pipeline.ended(turn(0, { end_state: { parcel: 'there' } }), turn(1));
    await desk.all('verifier');
    await refresh();
    await scene.pipeline.ended(turn(2), turn(3));
    await desk.all('verifier');
    expect(outcomes().sort()).toEqual([
      [0, 1, 'scored', 1, 'parcel is there'],
      [2, 1, 'scored', 0.25, null],
      [3, 1, 'scored', 0.25, null],
    ]);
    expect(asked[0]).toEqual({ session_id: 's', turn_index: 0, end_state: { parcel: 'there' } });
    expect(asked).toHaveLength(3);
    expect(scene.answers(0)).toMatchObject(
      Array(3).fill({ tier: 0, scores: [{ metric: 'outcome_correct', source: 'verifier', trace_id: null }] }),
    );
  });

  it('is not asked what no message can hold: the question is given up at once, journaled as what it is', async () => {
    await stage();
    await verifying(() => 1);
    await scene.query(`INSERT INTO scoring.verifiers (project, answered_at) VALUES ('default', now())`);
    await refresh();
    await scene.pipeline.ended(turn(0, { end_state: { log: 'x'.repeat((connection.info?.max_payload ?? 0) + 1) } }), turn(1));
    await desk.all('verifier');
    expect(outcomes()).toEqual([[1, 1, 'scored', 1, null]]);
    expect(await verifierJobs()).toEqual([]);
    expect(await scene.query(`SELECT type, t, doc FROM journal.events`)).toMatchObject([
      {
        type: 'score_failed',
        t: 0,
        doc: { metric: 'outcome_correct', code: 'too_large', error: expect.stringContaining('bytes') },
      },
    ]);
  });

  it('that cannot tell is no breach', async () => {
    await stage();
    await verifying(() => null);
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    expect(outcomes()).toEqual([[0, 1, 'not_applicable', null, null]]);
    await scene.pipeline.settle();
    expect(await scene.query(`SELECT 1 FROM gating.turn_evals WHERE fired <> '{}'`)).toEqual([]);
  });

  it('that says a turn went wrong breaches', async () => {
    await stage();
    await verifying(() => false);
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    await scene.pipeline.settle();
    expect(await scene.query('SELECT fired FROM gating.turn_evals')).toEqual([{ fired: ['breach:outcome_correct'] }]);
  });

  it.each<[string, (turn: VerifyRequest) => unknown, string]>([
    ['throws', () => Promise.reject(new Error('no database')), 'the verifier failed: no database'],
    ['is out of range', () => 2, 'the verifier failed'],
  ])('that %s is asked again later, and has said nothing', async (_, verify, error) => {
    await stage();
    let broken = true;
    await verifying((request) => (broken ? verify(request) : 1));
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    expect(await scene.query(`SELECT attempts, last_error, run_after > now() AS later FROM scoring.score_jobs`)).toEqual([
      { attempts: 1, last_error: expect.stringContaining(error), later: true },
    ]);
    expect(outcomes()).toEqual([]);
    broken = false;
    await scene.later();
    await desk.all('verifier');
    expect(outcomes()).toEqual([[0, 1, 'scored', 1, null]]);
  });

  it('that is too slow is asked again later', async () => {
    await stage();
    const silent = connection.subscribe(rpcSubject('default', 'verify'));
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    silent.unsubscribe();
    expect(await scene.query('SELECT last_error FROM scoring.score_jobs')).toEqual([
      { last_error: 'no answer on fm.default.rpc.verify within 500 ms' },
    ]);
  });

  it('that goes away is waited for, with one question at a time, and asked about all when it is back', async () => {
    await stage();
    const first = await verifying(() => 1);
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    await refresh();
    await first.close();
    await scene.pipeline.ended(turn(1), turn(2), turn(3));
    expect(await desk.once('verifier', 1)).toBe(1);
    expect(await desk.once('verifier')).toBe(0);
    expect(await scene.query('SELECT provider, code, detail FROM scoring.provider_blocks')).toEqual([
      { provider: 'verifier', code: 'unavailable', detail: 'no verifier is connected' },
    ]);
    await scene.later();
    expect(await desk.all('verifier')).toBe(1);
    expect(scene.answers(1)).toHaveLength(4);
    const again: number[] = [];
    await verifying(({ turn_index }) => {
      again.push(turn_index);
      return 1;
    });
    await scene.later();
    expect(await desk.all('verifier')).toBe(3);
    expect(again.sort()).toEqual([1, 2, 3]);
    expect(
      outcomes()
        .map((one) => (one as unknown[])[0])
        .sort(),
    ).toEqual([0, 1, 2, 3]);
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
    expect(await verifierJobs()).toEqual([]);
    expect(await scene.journal()).toEqual([]);
  });

  it('that was lost with the broker for a moment is asked about every turn again', async () => {
    await stage();
    await verifying(() => 1);
    await scene.query(
      `INSERT INTO scoring.provider_blocks (project, provider, code, detail, probe_at) VALUES ('default', 'verifier', 'unavailable', 'broker away', now())`,
    );
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    expect(await scene.query('SELECT 1 FROM scoring.provider_blocks')).toEqual([]);
  });

  it('is taken by its first word, whoever brings it', async () => {
    await stage();
    await verifying(() => ({ value: 0.2, reason: 'asked' }));
    await scene.pipeline.verified('s', 0, 0.9);
    await scene.pipeline.ended(turn(0));
    await desk.all('verifier');
    await refresh();
    await scene.pipeline.ended(turn(1));
    await desk.all('verifier');
    await scene.pipeline.verified('s', 1, 0.7);
    expect(outcomes().map((one) => (one as unknown[]).slice(0, 4))).toEqual([
      [0, 1, 'scored', 0.9],
      [1, 1, 'scored', 0.2],
    ]);
    expect(
      await scene.query(
        `SELECT t, doc->'kept' AS kept, doc->'refused' AS refused FROM journal.events WHERE type = 'score_conflict' ORDER BY t`,
      ),
    ).toEqual([
      { t: 0, kept: 0.9, refused: 0.2 },
      { t: 1, kept: 0.2, refused: 0.7 },
    ]);
    expect(await verifierJobs()).toEqual([]);
  });

  it('says a thing once when two workers ask it', async () => {
    await stage();
    await verifying(() => 1);
    const other = await scene.desk({}, connection);
    await scene.pipeline.ended(turn(0));
    const held = await desk.take('verifier');
    await scene.query(`UPDATE scoring.score_jobs SET leased_until = now() - interval '1 second'`);
    await Promise.all([other.all('verifier'), desk.run('verifier', held)]);
    expect(outcomes()).toEqual([[0, 1, 'scored', 1, null]]);
    expect(await scene.journal()).toEqual([]);
    expect(await verifierJobs()).toEqual([]);
  });
});
