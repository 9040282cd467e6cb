import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, testDatabase, type TestDatabase } from '#testing';
import { GatewayProcess } from '../support/gateway.js';
import { Loop, serviceEnv } from '../support/loop.js';
import { ownNats, type OwnServer } from '../support/own-servers.js';
import { seeded, shuffled } from '../support/random.js';
import { SHARED, sharedIsThere } from '../support/root.js';

const MINUTE = 60_000;
const SEED = 4_317;
/** Conversations of the recordings, and their turns (SOURCE.md there). */
const [SESSIONS, TURNS] = [6, 26];
const LIBRARIES = ['openinference-openai', 'vercel-ai', 'langfuse-openai', 'traceloop-openai'];

interface Exported {
  readonly resourceSpans: readonly {
    resource?: unknown;
    scopeSpans: readonly { scope?: unknown; spans: readonly unknown[] }[];
  }[];
}

function bodiesOf(library: string): Exported[] {
  const folder = join(SHARED, 'otlp', 'replayed', library);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .sort();
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Exported);
}

/** One request per span, as some exporters send them. */
function pieces(bodies: readonly Exported[]): Exported[] {
  return bodies.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ scope, spans }) =>
        spans.map((span) => ({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] })),
      ),
    ),
  );
}

const described = sharedIsThere('the recorded OTLP bodies through the loop') ? describe : describe.skip;

described('spans over HTTP, every service a process of its own', () => {
  let nats: OwnServer;
  let database: TestDatabase;
  let loop: Loop;
  let gateway: GatewayProcess;
  const keys = new Map<string, string>();

  beforeAll(async () => {
    [nats, database] = await Promise.all([ownNats(), testDatabase()]);
    const options = {
      natsUrl: nats.url,
      databaseUrl: database.url,
      settings: { otlp_turns: 'root_span' as const, otlp_quiet_s: 3 },
    };
    loop = await Loop.open(options);
    const prepared = await GatewayProcess.prepare(serviceEnv(options));
    if (prepared === undefined) throw new Error('the gateway is not built');
    gateway = prepared;
    loop.start();
    gateway.service.start();
  }, MINUTE);

  afterAll(async () => {
    await gateway.service.stop();
    await loop.close();
    await nats.drop();
    await database.drop();
  }, MINUTE);

  async function project(name: string): Promise<void> {
    await loop.createProject(name);
    const key = `fm_${name}_${randomBytes(32).toString('base64url')}`;
    keys.set(name, key);
    await loop.rows('INSERT INTO edge.api_keys (id, project, name, hash, scopes) VALUES ($1, $2, $3, $4, $5)', [
      ...[`k-${name}`, name, 'test', createHash('sha256').update(key).digest(), ['ingest']],
    ]);
    await eventually(async () => (await post(name, { resourceSpans: [] })).status === 200, 30_000);
  }

  const post = (name: string, body: Exported): Promise<Response> =>
    fetch(`${gateway.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.get(name) ?? ''}` },
      body: JSON.stringify(body),
    });

  async function send(name: string, bodies: readonly Exported[], atOnce: number): Promise<void> {
    const open = [...bodies];
    const sender = async (): Promise<void> => {
      for (let body = open.shift(); body !== undefined; body = open.shift()) {
        const response = await post(name, body);
        expect({ status: response.status, body: await response.text() }).toEqual({ status: 200, body: '{}' });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, sender));
  }

  async function turned(name: string): Promise<string[]> {
    await eventually(
      async () =>
        (await loop.rows("SELECT 1 FROM scoring.otel_traces WHERE project = $1 AND state = 'open'", [name])).length === 0,
      30_000,
    );
    await loop.quiet(MINUTE);
    const rows = await loop.rows<{ line: string }>(
      `SELECT concat_ws(' ', x.session, t.t, c.tier, c.trace, c.metric, c.source, c.status, c.value, c.code) AS line FROM scoring.turns t
       JOIN scoring.sessions x USING (s) LEFT JOIN scoring.scores c USING (s, t) WHERE t.project = $1
       UNION ALL SELECT concat_ws(' ', trace_id, span_id, encode(sha, 'hex'), late) FROM scoring.otel_spans WHERE project = $1 ORDER BY 1`,
      [name],
    );
    return rows.map(({ line }) => line);
  }

  it.each(LIBRARIES)(
    'of %s give the same turns, whole or one by one, twice, at once and in any order',
    async (library) => {
      const [whole, apart] = [`${library}-whole`, `${library}-apart`];
      await project(whole);
      await project(apart);
      const bodies = bodiesOf(library);
      await send(whole, bodies, 1);
      await send(apart, shuffled([...pieces(bodies), ...pieces(bodies)], SEED), 16);
      const first = await turned(whole);
      expect(await turned(apart)).toEqual(first);
      const [counted] = await loop.rows<{ turns: string; sessions: string }>(
        'SELECT count(*) AS turns, count(DISTINCT s) AS sessions FROM scoring.turns WHERE project = $1',
        [whole],
      );
      expect({ turns: Number(counted?.turns), sessions: Number(counted?.sessions) }).toEqual({
        turns: TURNS,
        sessions: SESSIONS,
      });
      expect(await loop.deadLetters(whole)).toEqual({});
    },
    2 * MINUTE,
  );

  it('leave the invariants as they are', async () => {
    // Turns that are made of traces were never published as such: every one of them counts as acknowledged.
    for (const { project: name, session, t } of await loop.rows<{ project: string; session: string; t: string }>(
      'SELECT t.project, x.session, t.t FROM scoring.turns t JOIN scoring.sessions x USING (s)',
    ))
      loop.acknowledged.add(`${name}|${session}|${t}`);
    expect(await loop.violations()).toEqual([]);
  });

  it('of a turn that names them are scored with it, and a damaged one is refused beside good ones', async () => {
    await project('named');
    await loop.rows(
      `INSERT INTO edge.settings (project, version, doc, author) VALUES ('named', 2, '{"otlp_turns": "named"}', 'test')`,
    );
    const random = seeded(SEED);
    const trace = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
    const root = {
      ...{ traceId: trace, spanId: '00f067aa0ba902b7', name: 'turn', kind: 1, startTimeUnixNano: '1769000000000000000' },
      ...{ endTimeUnixNano: '1769000001000000000', status: {} },
      attributes: [
        { key: 'input.value', value: { stringValue: 'where is my parcel' } },
        { key: 'output.value', value: { stringValue: 'it is here' } },
      ],
    };
    await loop.publish('named', [{ session_id: 's', turn_index: 0, trace_ids: [trace] }]);
    const response = await post('named', { resourceSpans: [{ scopeSpans: [{ spans: [root, { ...root, spanId: 'no hex' }] }] }] });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ partialSuccess: { rejectedSpans: expect.anything() } });
    await eventually(async () => {
      const scores = await loop.rows(
        "SELECT 1 FROM scoring.scores c JOIN scoring.turns t USING (s, t) WHERE t.project = 'named' AND status = 'scored'",
      );
      return scores.length > 0;
    }, 20_000);
    expect(await loop.rows("SELECT partial FROM scoring.turns WHERE project = 'named'")).toEqual([{ partial: false }]);
  });
});
