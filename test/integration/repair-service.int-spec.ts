import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { episodeOpened, processSettings, type ProcessSettings } from '#contracts';
import { JetStreamPublisher } from '#messaging/jetstream';
import type { RunningService } from '#service';
import { after, eventually, hang, json, modelServer, testNats, type ModelServer, type TestNats } from '#testing';
import { startRepair } from '../../services/repair/src/repair.module.js';
import type { Planted } from './repair-plant.js';
import { ack, add, inspect, RepairScene, resolve, ruleOf, search, speaking } from './repair-scene.js';

let scene: RepairScene;
let nats: TestNats;
let collector: ModelServer;
let service: RunningService | undefined;
beforeAll(async () => {
  [scene, nats, collector] = [await RepairScene.open(), await testNats(), await modelServer(() => json({}))];
});
beforeEach(() => scene.reset());
afterEach(async () => {
  await service?.stop();
  service = undefined;
});
afterAll(async () => {
  await collector.close();
  await nats.drop();
  await scene.close();
});

const first = (of: { notices: readonly string[] }): string => of.notices[0] ?? '';

async function start(patch: Partial<ProcessSettings> = {}): Promise<RunningService> {
  const own = { nats_url: nats.url, database_url: scene.db.url, log_level: 'silent' as const, repair_base_url: scene.models.url };
  service = await startRepair({ process: processSettings.parse({ ...own, ...patch }), projects: { repair_model: 'our-own' } });
  return service;
}

/** Tells of an episode as the mailbox does. */
async function open({ episode, notices, session, incident }: Planted): Promise<void> {
  const publisher = new JetStreamPublisher(await nats.connect(), 'mailbox');
  const payload = {
    episode_id: episode,
    notice_ids: notices,
    session_id: session,
    turn_index: 0,
    incident_id: incident,
    attempt: 1,
  };
  const failures = await publisher.publish([
    { id: `opened-${episode}`, subject: episodeOpened.subject('default'), data: JSON.stringify(payload) },
  ]);
  expect(failures).toEqual([]);
}

/** An episode that nobody was told of yet. */
async function untold(): Promise<Planted> {
  const planted = await scene.plant();
  await scene.query('DELETE FROM repair.work');
  return planted;
}

const settled = (planted: Planted): Promise<{ status: string; outcome: { status: string } }> =>
  eventually(async () => {
    const [row] = await scene.query<{ status: string; outcome: { status: string } }>(
      `SELECT status, outcome FROM mailbox.episodes WHERE id = $1 AND status = 'settled'`,
      [planted.episode],
    );
    return row;
  }, 20_000);

describe('the repair service', () => {
  it('repairs an episode that it is told of, and tells what came of it to the streams', async () => {
    const planted = await untold();
    scene.says([add({ scope: 'payments' }), ack(first(planted), ruleOf(planted))]);
    const seen: string[] = [];
    const listener = await nats.connect();
    listener.subscribe('live.fm.default.>', { callback: (_, { subject }) => void seen.push(subject) });
    await listener.flush();
    await start();
    await open(planted);
    expect(await settled(planted)).toMatchObject({ outcome: { status: 'candidate_added' } });
    await eventually(() => seen.length === 4);
    expect(seen.sort()).toEqual([
      'live.fm.default.episode.settled.candidate_added',
      `live.fm.default.notice.resolved.candidate_added.${planted.session}`,
      'live.fm.default.rule.candidate.payments',
      'live.fm.default.rule.changed',
    ]);
    await eventually(async () => (await scene.query('SELECT id FROM repair.outbox')).length === 0);
  });
  it('told of the same episode again does nothing more', async () => {
    const planted = await untold();
    scene.says([resolve(first(planted), 'unactionable')]);
    await start();
    await open(planted);
    await settled(planted);
    await open(planted);
    const other = await untold();
    scene.says([resolve(first(other), 'unactionable')]);
    await open(other);
    await settled(other);
    expect(scene.models.requests).toHaveLength(2);
  });
  it('finds by itself what is due by time alone', async () => {
    const planted = await scene.plant();
    await scene.query(`UPDATE repair.work SET run_after = now() + interval '300 milliseconds'`);
    scene.says([resolve(first(planted), 'unactionable')]);
    await start();
    expect(await settled(planted)).toMatchObject({ outcome: { status: 'unactionable' } });
  });
  it('told to stop finishes what it has in hand', async () => {
    const planted = await untold();
    scene.says(after(300, speaking([resolve(first(planted), 'unactionable')])));
    const running = await start();
    await open(planted);
    await eventually(() => scene.models.requests.length === 1);
    await running.stop();
    service = undefined;
    expect(await scene.query('SELECT status FROM mailbox.episodes')).toEqual([{ status: 'settled' }]);
  });
  it('gives back as cancelled what does not end within its grace', async () => {
    const planted = await untold();
    scene.says(hang());
    const running = await start({ shutdown_grace_s: 0.2 });
    await open(planted);
    await eventually(() => scene.models.requests.length === 1);
    await running.stop();
    service = undefined;
    expect(await scene.work()).toMatchObject([{ state: 'waiting', failures: 0 }]);
    expect(await scene.query('SELECT status FROM repair.runs')).toEqual([{ status: 'cancelled' }]);
  });
});

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
}

function exported(): { service: unknown; scope: string; spans: Span[] }[] {
  return collector.requests.map(({ body }) => {
    const [resource] = body['resourceSpans'] as {
      resource: { attributes: { value: unknown }[] };
      scopeSpans: { scope: { name: string }; spans: Span[] }[];
    }[];
    const scope = resource?.scopeSpans[0];
    return { service: resource?.resource.attributes[0]?.value, scope: scope?.scope.name ?? '', spans: scope?.spans ?? [] };
  });
}

const of = (span: Span | undefined, key: string): string | undefined =>
  span?.attributes.find((one) => one.key === key)?.value.stringValue;

describe('the trace of a repair', () => {
  it('is one trace, of a session of its own, with a span for each turn, model call and tool call', async () => {
    await scene.configure({ repair_model: 'our-own', trace_repair_agent: true });
    const planted = await untold();
    scene.says([inspect('t1'), search('bills')], [resolve(first(planted), 'unactionable')]);
    await start({ repair_traces_url: `${collector.url}/traces`, repair_traces_headers: { 'x-team': 'loop' } });
    await open(planted);
    await settled(planted);
    const [trace] = await eventually(() => (exported().length === 1 ? exported() : null));
    const spans = trace?.spans ?? [];
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const path = (span: Span): string => {
      const parent = byId.get(span.parentSpanId ?? '');
      return `${parent === undefined ? '' : `${path(parent)} > `}${span.name} (${of(span, 'openinference.span.kind')})`;
    };
    expect(spans.map(path)).toEqual([
      'harness (CHAIN)',
      'harness (CHAIN) > repair-agent (AGENT)',
      'harness (CHAIN) > repair-agent (AGENT) > chat our-own (LLM)',
      'harness (CHAIN) > tools (AGENT)',
      'harness (CHAIN) > tools (AGENT) > harness_trace_inspect (TOOL)',
      'harness (CHAIN) > tools (AGENT) > harness_rules_search (TOOL)',
      'harness (CHAIN) > repair-agent (AGENT)',
      'harness (CHAIN) > repair-agent (AGENT) > chat our-own (LLM)',
      'harness (CHAIN) > tools (AGENT)',
      'harness (CHAIN) > tools (AGENT) > harness_notice_resolve (TOOL)',
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(new Set(spans.map((span) => of(span, 'session.id')))).toEqual(
      new Set([`repair-${planted.session}-${planted.episode}`]),
    );
    expect(new Set(spans.map((span) => of(span, 'langfuse.trace.name')))).toEqual(new Set(['fleetmend']));
    expect(trace).toMatchObject({ service: { stringValue: 'fleetmend' }, scope: 'fleetmend.repair' });
    expect(collector.requests[0]?.headers['x-team']).toBe('loop');
  });
  it('leaves nothing when it is off', async () => {
    const before = collector.requests.length;
    const planted = await untold();
    scene.says([resolve(first(planted), 'unactionable')]);
    const running = await start({ repair_traces_url: `${collector.url}/traces` });
    await open(planted);
    await settled(planted);
    await running.stop();
    service = undefined;
    expect(collector.requests).toHaveLength(before);
  });
});
