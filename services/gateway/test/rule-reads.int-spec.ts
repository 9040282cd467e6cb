import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { jetstreamManager } from '@nats-io/jetstream';
import { Svcm } from '@nats-io/services';
import { headers as natsHeaders, type NatsConnection } from '@nats-io/transport-node';
import { rpcSubject, ruleTools, type RuleExposed, type RuleTool } from '#contracts';
import { eventually } from '#testing';
import { openGateway, type Fixture } from './fixture.js';
import { insertKey } from './rows.js';
import { insertRules, sessionIn } from './rules.js';

let fixture: Fixture;
let nc: NatsConnection;
let treatment: string;
let control: string;
/** Every text of the candidates, none of which a control session may ever see. */
const SECRETS = ['cand-global', 'cand-only', 'Confirm the amount', 'Count the boxes', 'refund-tag'];
const CANDIDATES = ['cand-global', 'cand-only'];

beforeAll(async () => {
  fixture = await openGateway();
  nc = await fixture.nats.connect();
  await insertRules(fixture.db, [
    { id: 'act-global', rule: 'Read the policy before a refund.' },
    { id: 'act-venmo', rule: 'Ask for the account first.', scope: 'venmo' },
    { id: 'cand-global', rule: 'Confirm the amount before a refund.', status: 'candidate', tags: ['refund-tag'] },
    { id: 'cand-only', rule: 'Count the boxes before shipping.', status: 'candidate', scope: 'warehouse' },
    { id: 'held', rule: 'Hold this refund back.', status: 'candidate', hold: 'approval' },
    { id: 'gone', rule: 'An old refund habit.', status: 'retired' },
  ]);
  await fixture.db.query("INSERT INTO edge.projects (project) VALUES ('other')");
  await insertRules(fixture.db, [{ id: 'foreign', rule: 'A refund rule of somebody else.' }], 'other');
  treatment = await sessionIn(fixture.db, 'treatment', CANDIDATES);
  control = await sessionIn(fixture.db, 'control', CANDIDATES);
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 30_000);

type Json = Record<string, unknown>;
interface Asked {
  readonly tool: RuleTool;
  readonly args: Json;
}
type Door = (
  session: string | null,
  asked: Asked,
) => Promise<{ text: string; json: Json | undefined; refused: string | undefined }>;

const pathOf = ({ tool, args }: Asked): string => {
  const [scope, query, id] = [args['scope'], args['query'], args['rule_id']].map((one) => encodeURIComponent(String(one)));
  switch (tool) {
    case 'list':
      return '/v1/rules';
    case 'read':
      return `/v1/rules/scopes/${args['scope'] === undefined ? 'global' : scope}`;
    case 'search':
      return `/v1/rules?q=${query}${'limit' in args ? `&limit=${JSON.stringify(args['limit'])}` : ''}`;
    case 'status':
      return `/v1/rules/ids/${id}`;
  }
};
const named = (session: string | null, more: Record<string, string> = {}) => ({
  ...(session === null ? {} : { 'fleetmend-session': session }),
  ...more,
});

const overHttp: Door = async (session, asked) => {
  const { status, text, body } = await fixture.call('GET', pathOf(asked), { headers: named(session) });
  return {
    text,
    json: status === 200 ? (body as unknown as Json) : undefined,
    refused: status === 200 ? undefined : body.detail,
  };
};

const overNats: Door = async (session, { tool, args }) => {
  const headers = natsHeaders();
  if (session !== null) headers.set('Fm-Session', session);
  const reply = await nc.request(rpcSubject('default', `rules.${tool}`), JSON.stringify(args), { headers, timeout: 5_000 });
  const refused = reply.headers?.get('Nats-Service-Error') || undefined;
  return { text: reply.string(), json: refused === undefined ? reply.json<Json>() : undefined, refused };
};

async function mcpClient(session: string | null, byQuery = false): Promise<Client> {
  const url = new URL(`${fixture.url}/mcp`);
  if (byQuery && session !== null) url.searchParams.set('session', session);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: byQuery ? {} : named(session) } }));
  return client;
}

const overMcp: Door = async (session, { tool, args }) => {
  const client = await mcpClient(session);
  try {
    const result = await client.callTool({ name: ruleTools[tool].name, arguments: args });
    const [content] = result.content as { text: string }[];
    const refused = result.isError === true ? (content?.text ?? '') : undefined;
    return { text: JSON.stringify(result), json: result.structuredContent as Json | undefined, refused };
  } finally {
    await client.close();
  }
};

const doors: readonly [string, Door][] = [
  ['HTTP', overHttp],
  ['NATS', overNats],
  ['MCP', overMcp],
];

const idsOf = (json: Json | undefined): unknown[] => {
  const { rules, provisional } = json as { rules: { id: string }[]; provisional: { rules: { id: string }[] } | null };
  return [...rules, ...(provisional?.rules ?? [])].map(({ id }) => id);
};

describe.each(doors)('reads over %s', (_, door) => {
  it('show a candidate to the sessions that try it, after what is proven, under a heading', async () => {
    const { json } = await door(treatment, { tool: 'read', args: {} });
    expect(json).toMatchObject({ scope: 'global', rules: [{ id: 'act-global', rule: 'Read the policy before a refund.' }] });
    expect(json?.['provisional']).toMatchObject({ heading: expect.stringMatching(/trial/), rules: [{ id: 'cand-global' }] });
    expect(idsOf((await door(treatment, { tool: 'search', args: { query: 'refund' } })).json)).toEqual(
      expect.arrayContaining(['act-global', 'cand-global']),
    );
    expect((await door(treatment, { tool: 'status', args: { rule_id: 'cand-only' } })).json).toMatchObject({
      status: 'candidate',
    });
  });

  it('show nothing of it to the others: neither id, text nor tags, by any tool', async () => {
    const asked: Asked[] = [
      { tool: 'read', args: {} },
      { tool: 'read', args: { scope: 'warehouse' } },
      { tool: 'search', args: { query: 'confirm amount refund-tag boxes', limit: 50 } },
      { tool: 'list', args: {} },
    ];
    for (const session of [control, null])
      for (const one of asked) {
        const { text } = await door(session, one);
        expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
      }
  });

  it('answer a scope that holds nothing for a session like one that does not exist', async () => {
    const withheld = await door(control, { tool: 'read', args: { scope: 'warehouse' } });
    const empty = await door(control, { tool: 'read', args: { scope: 'nowhere' } });
    expect(withheld.json).toMatchObject({ rules: [], provisional: null, note: 'No rules here.' });
    expect(
      JSON.stringify(withheld.json)
        .replaceAll(/warehouse/gi, 'nowhere')
        .toLowerCase(),
    ).toBe(JSON.stringify(empty.json).toLowerCase());
    const unknown = await door(control, { tool: 'status', args: { rule_id: 'cand-0000' } });
    const status = await door(control, { tool: 'status', args: { rule_id: 'cand-only' } });
    expect(JSON.stringify(status.json).replace('cand-only', 'cand-0000')).toBe(JSON.stringify(unknown.json));
  });

  it('list the same scopes and counts to everybody', async () => {
    const lists = await Promise.all([treatment, control, null].map((session) => door(session, { tool: 'list', args: {} })));
    expect(new Set(lists.map(({ json }) => JSON.stringify(json))).size).toBe(1);
    expect(lists[0]?.json?.['scopes']).toMatchObject([
      { scope: 'global', active: 1, candidates: 1 },
      { scope: 'venmo', active: 1, candidates: 0 },
      { scope: 'warehouse', active: 0, candidates: 1 },
    ]);
  });

  it('never show what is held, retired or of another project', async () => {
    const { json, text } = await door(treatment, {
      tool: 'search',
      args: { query: 'refund hold back habit somebody', limit: 50 },
    });
    expect(idsOf(json)).toContain('act-global');
    expect(text).not.toMatch(/held|Hold this|gone|habit\b.*old|foreign|somebody else/);
    expect((await door(treatment, { tool: 'status', args: { rule_id: 'held' } })).json).toMatchObject({ known: false });
    expect((await door(treatment, { tool: 'status', args: { rule_id: 'gone' } })).json).toMatchObject({ status: 'retired' });
    expect((await door(treatment, { tool: 'status', args: { rule_id: 'foreign' } })).json).toMatchObject({ known: false });
  });

  it('refuse a scope that is not named as the list names it, and say why', async () => {
    for (const scope of ['Venmo', '../etc', 'a b'])
      expect((await door(treatment, { tool: 'read', args: { scope } })).refused).toMatch(/invalid rule scope/);
  });

  it('hold searches to their limit', async () => {
    expect(idsOf((await door(treatment, { tool: 'search', args: { query: 'refund', limit: 1 } })).json)).toHaveLength(1);
    expect((await door(treatment, { tool: 'search', args: { query: 'refund', limit: 51 } })).refused).toBeDefined();
    expect((await door(treatment, { tool: 'search', args: { query: ' ' } })).refused).toBeDefined();
  });

  it('fit the schema that every door declares', async () => {
    const asked: Asked[] = [
      { tool: 'list', args: {} },
      { tool: 'read', args: { scope: 'venmo' } },
      { tool: 'search', args: { query: 'account' } },
      { tool: 'status', args: { rule_id: 'act-venmo' } },
    ];
    for (const one of asked) ruleTools[one.tool].output.parse((await door(treatment, one)).json);
  });
});

describe('the doors', () => {
  it('answer alike', async () => {
    const asked: Asked[] = [
      { tool: 'read', args: { scope: 'global' } },
      { tool: 'search', args: { query: 'refund', limit: 5 } },
      { tool: 'status', args: { rule_id: 'cand-global' } },
      { tool: 'list', args: {} },
    ];
    for (const one of asked)
      for (const session of [treatment, control]) {
        const answers = await Promise.all(doors.map(async ([, door]) => (await door(session, one)).json));
        expect(answers[1]).toEqual(answers[0]);
        expect(answers[2]).toEqual(answers[0]);
      }
  });

  it('need a key with rules:read once there are keys, and operators have another', async () => {
    const keyed = await openGateway();
    try {
      await insertKey(keyed.db, 'fm_default_reader', ['rules:read']);
      await insertKey(keyed.db, 'fm_default_watcher', ['observe']);
      const status = async (path: string, key?: string, method = 'GET', body?: unknown) =>
        (await keyed.call(method, path, { key, body })).status;
      await eventually(async () => (await status('/v1/rules')) === 401);
      expect(await status('/mcp', undefined, 'POST', {})).toBe(401);
      expect(await status('/v1/rules', 'fm_default_reader')).toBe(200);
      expect(await status('/v1/rules', 'fm_default_watcher')).toBe(403);
      for (const path of ['/v1/rules/inventory', '/v1/rules/inventory/x', '/v1/candidates', '/v1/journal?rule=x']) {
        expect(await status(path, 'fm_default_reader')).toBe(403);
        expect(await status(path, 'fm_default_watcher')).not.toBe(403);
      }
      for (const path of [
        'withdraw',
        'restore',
        'ids/x/retire',
        'ids/x/edit',
        'ids/x/approve',
        'ids/x/withdraw',
        'ids/x/restore',
      ])
        for (const key of ['fm_default_reader', 'fm_default_watcher'])
          expect(await status(`/v1/rules/${path}`, key, 'POST', { all: true })).toBe(403);
    } finally {
      await keyed.close();
    }
  }, 60_000);
});

describe('rules as skill files', () => {
  const markdown = async (path: string, session: string | null, headers: Record<string, string> = {}) => {
    const { text, headers: got } = await fixture.call('GET', path, { headers: named(session, headers) });
    return { text, type: got.get('content-type') };
  };

  it('are an index without rule text, the same for every session', async () => {
    const index = await markdown('/v1/rules?format=md', treatment);
    expect(index.type).toContain('text/markdown');
    expect(index.text).toContain('rules/warehouse.md');
    expect(index.text).not.toMatch(/Confirm|Read the policy/);
    expect((await markdown('/v1/rules', control, { accept: 'text/markdown' })).text).toBe(index.text);
  });

  it('are a file per scope, without what is withheld', async () => {
    expect((await markdown('/v1/rules/scopes/global?format=md', treatment)).text).toContain('Confirm the amount');
    const { text } = await markdown('/v1/rules/scopes/global?format=md', control);
    expect(text).toContain('Read the policy');
    expect(SECRETS.filter((secret) => text.includes(secret))).toEqual([]);
    expect((await markdown('/v1/rules/scopes/warehouse?format=md', control)).text).toContain('No rules here.');
  });

  it('exist for no search', async () => {
    expect((await fixture.call('GET', '/v1/rules?q=refund&format=md')).status).toBe(422);
    expect((await fixture.call('GET', '/v1/rules?limit=3')).status).toBe(422);
  });
});

describe('ETags', () => {
  const ask = async (path: string, session: string | null, tag?: string) => {
    const { status, headers, text } = await fixture.call('GET', path, {
      headers: named(session, tag === undefined ? {} : { 'if-none-match': tag }),
    });
    return { status, tag: headers.get('etag') ?? '', text, headers };
  };

  it('spare an answer that its reader has', async () => {
    const first = await ask('/v1/rules/scopes/global', treatment);
    expect(first.status).toBe(200);
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    expect(first.headers.get('vary')).toContain('Fleetmend-Session');
    const again = await ask('/v1/rules/scopes/global', treatment, `"other", W/${first.tag}`);
    expect([again.status, again.text, again.tag]).toEqual([304, '', first.tag]);
  });

  it('of the other arm never do', async () => {
    for (const path of [
      '/v1/rules/scopes/global',
      '/v1/rules/scopes/warehouse',
      '/v1/rules?q=refund',
      '/v1/rules/ids/cand-global',
    ]) {
      const [seen, hidden] = [await ask(path, treatment), await ask(path, control)];
      expect(seen.tag).not.toBe(hidden.tag);
      expect((await ask(path, control, seen.tag)).status).toBe(200);
      expect((await ask(path, treatment, hidden.tag)).status).toBe(200);
      expect((await ask(path, control, '*')).status).toBe(200);
    }
  });

  it('of the list are the same for every session', async () => {
    for (const path of ['/v1/rules', '/v1/rules?format=md']) {
      const tags = await Promise.all([treatment, control, null].map(async (session) => (await ask(path, session)).tag));
      expect(new Set(tags).size).toBe(1);
      expect((await ask(path, control, tags[0])).status).toBe(304);
    }
  });

  it('of one tool, argument or format are not those of another', async () => {
    const paths = [
      '/v1/rules',
      '/v1/rules?format=md',
      '/v1/rules/scopes/global',
      '/v1/rules/scopes/global?format=md',
      '/v1/rules?q=refund',
      '/v1/rules?q=refund&limit=1',
    ];
    const tags = await Promise.all(paths.map(async (path) => (await ask(path, treatment)).tag));
    expect(new Set(tags).size).toBe(paths.length);
  });
});

describe('exposures', () => {
  let before = 0;
  beforeEach(async () => {
    const jsm = await jetstreamManager(nc);
    before = (await jsm.streams.info('FM_EXPOSURES')).state.last_seq;
  });

  /** What was published in this test, the oldest first. */
  const published = async (): Promise<RuleExposed[]> => {
    const jsm = await jetstreamManager(nc);
    const { state } = await jsm.streams.info('FM_EXPOSURES');
    const all: RuleExposed[] = [];
    for (let seq = before + 1; seq <= state.last_seq; seq += 1) {
      const message = await jsm.streams.getMessage('FM_EXPOSURES', { seq });
      if (message !== null) all.push(message.json<RuleExposed>());
    }
    return all;
  };

  it('are stored before the answer, for reads and searches of named sessions, in both arms', async () => {
    await overHttp(treatment, { tool: 'read', args: {} });
    await overHttp(control, { tool: 'read', args: {} });
    await overNats(control, { tool: 'read', args: { scope: 'warehouse' } });
    await overMcp(treatment, { tool: 'search', args: { query: 'boxes', limit: 1 } });
    expect(
      (await published()).map(({ session_id, kind, rule_ids, withheld_ids }) => [session_id, kind, rule_ids, withheld_ids]),
    ).toEqual([
      [treatment, 'read', ['act-global', 'cand-global'], []],
      [control, 'read', ['act-global'], ['cand-global']],
      [control, 'read', [], ['cand-only']],
      [treatment, 'search', ['cand-only'], []],
    ]);
  });

  it('are none of a list, a status, an index, or a reader without a session', async () => {
    for (const [, door] of doors) {
      await door(treatment, { tool: 'list', args: {} });
      await door(treatment, { tool: 'status', args: { rule_id: 'cand-global' } });
      await door(null, { tool: 'read', args: {} });
      await door(null, { tool: 'search', args: { query: 'refund' } });
    }
    await fixture.call('GET', '/v1/rules?format=md', { headers: named(treatment) });
    expect(await published()).toEqual([]);
  });

  it('are one for an answer that was spared, and one for a skill file', async () => {
    const first = await fixture.call('GET', '/v1/rules/scopes/global', { headers: named(treatment) });
    const spared = await fixture.call('GET', '/v1/rules/scopes/global', {
      headers: named(treatment, { 'if-none-match': first.headers.get('etag') ?? '' }),
    });
    expect(spared.status).toBe(304);
    await fixture.call('GET', '/v1/rules/scopes/global?format=md', { headers: named(treatment) });
    expect(await published()).toHaveLength(3);
  });

  it('carry the turn where the reader names it, and the whole id of the session', async () => {
    const session = `a session / ${'é漢'.repeat(20)}`;
    const header = Buffer.from(session, 'utf8').toString('latin1');
    await fixture.call('GET', '/v1/rules/scopes/global', { headers: { 'fleetmend-session': header, 'fleetmend-turn': '7' } });
    const headers = natsHeaders();
    headers.set('Fm-Session', session);
    headers.set('Fm-Turn', '8');
    await nc.request(rpcSubject('default', 'rules.read'), '', { headers, timeout: 5_000 });
    const client = await mcpClient(session, true);
    await client.callTool({ name: 'harness_rules_read', arguments: {} });
    await client.close();
    expect((await published()).map(({ session_id, turn_index }) => [session_id, turn_index])).toEqual([
      [session, 7],
      [session, 8],
      [session, null],
    ]);
  });

  it('of wrong headers are refused by name', async () => {
    const long = await fixture.call('GET', '/v1/rules', { headers: { 'fleetmend-session': 's'.repeat(256) } });
    expect(long).toMatchObject({ status: 422, body: { detail: expect.stringContaining('Fleetmend-Session') } });
    const turn = await fixture.call('GET', '/v1/rules', { headers: { 'fleetmend-turn': 'x' } });
    expect(turn).toMatchObject({ status: 422, body: { detail: expect.stringContaining('Fleetmend-Turn') } });
  });
});

describe('over NATS', () => {
  it('the reads are found as a micro service with their schemas', async () => {
    const client = new Svcm(nc).client();
    const infos = [];
    for await (const info of await client.info('fleetmend-rules')) infos.push(info);
    expect(infos).toHaveLength(1);
    expect(infos[0]?.endpoints.map(({ name, subject, queue_group }) => [name, subject, queue_group])).toEqual(
      ['list', 'read', 'search', 'status'].map((name) => [name, `fm.*.rpc.rules.${name}`, 'fleetmend-rules']),
    );
    const { metadata } = infos[0]?.endpoints[2] ?? {};
    expect(metadata?.['tool']).toBe('harness_rules_search');
    expect(JSON.parse(metadata?.['input'] ?? '{}')).toMatchObject({
      properties: { query: { type: 'string' } },
      required: ['query'],
    });
    const stats = [];
    for await (const one of await client.stats('fleetmend-rules')) stats.push(one);
    expect(stats[0]?.endpoints?.find(({ name }) => name === 'read')?.num_requests).toBeGreaterThan(0);
  });

  it('what cannot be answered is a service error with a code', async () => {
    const code = async (subject: string, data: string, session = treatment) => {
      const headers = natsHeaders();
      headers.set('Fm-Session', session);
      return (await nc.request(subject, data, { headers, timeout: 5_000 })).headers?.get('Nats-Service-Error-Code');
    };
    expect(await code('fm.nobody.rpc.rules.list', '{}')).toBe('404');
    expect(await code(rpcSubject('default', 'rules.search'), '{"query": 1}')).toBe('400');
    expect(await code(rpcSubject('default', 'rules.search'), 'not json')).toBe('400');
    expect(await code(rpcSubject('default', 'rules.read'), '{}', 's'.repeat(300))).toBe('400');
    expect(await code(rpcSubject('default', 'rules.list'), '')).toBeUndefined();
  });

  it('each question is answered by one gateway, whichever is there', async () => {
    const other = await fixture.another();
    const service = new Svcm(nc).client();
    await eventually(async () => {
      let found = 0;
      for await (const _ of await service.ping('fleetmend-rules')) found += 1;
      return found === 2;
    });
    const inbox: string[] = [];
    nc.subscribe('answers.here', { callback: (_, message) => void inbox.push(message.string()) });
    for (let n = 0; n < 20; n += 1) nc.publish(rpcSubject('default', 'rules.list'), '', { reply: 'answers.here' });
    await eventually(() => inbox.length >= 20);
    await other.stop();
    const after = await nc.request(rpcSubject('default', 'rules.list'), '', { timeout: 5_000 });
    expect([inbox.length, after.json<Json>()['scopes']]).toEqual([20, expect.anything()]);
  }, 30_000);
});

describe('over MCP', () => {
  it('a client lists the four tools as they are declared, read-only', async () => {
    const client = await mcpClient(treatment);
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.map(({ name, description }) => [name, description])).toEqual(
      Object.values(ruleTools).map(({ name, description }) => [name, description]),
    );
    for (const { annotations, inputSchema, outputSchema } of tools) {
      expect(annotations?.readOnlyHint).toBe(true);
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object']);
    }
    expect(tools[2]?.inputSchema).toMatchObject({ required: ['query'], properties: { limit: expect.anything() } });
  });

  it('clients of the earlier protocol, with its handshake, are served too', async () => {
    const rpc = async (body: unknown) => {
      const answer = await fixture.call('POST', '/mcp', {
        body,
        headers: named(treatment, { accept: 'application/json, text/event-stream' }),
      });
      const data = /^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text;
      return { status: answer.status, json: data === '' ? undefined : (JSON.parse(data) as Json) };
    };
    const hello = await rpc({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
    });
    expect(hello.json).toMatchObject({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} } } });
    expect((await rpc({ jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    const called = await rpc({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'harness_rules_read', arguments: {} },
    });
    expect(called.json).toMatchObject({ result: { structuredContent: { provisional: { rules: [{ id: 'cand-global' }] } } } });
  });

  it('what is no request of it is refused', async () => {
    expect((await fixture.call('GET', '/mcp')).status).toBe(405);
    expect((await fixture.call('POST', '/mcp', { body: 'no json' })).status).toBe(400);
    expect((await fixture.call('POST', '/mcp', { body: '{}', headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    const client = await mcpClient(treatment);
    await expect(client.callTool({ name: 'harness_rule_add', arguments: {} })).rejects.toThrow();
    expect(client.getServerCapabilities()?.tools?.listChanged ?? false).toBe(false);
    await client.close();
  });
});

/** Last: it adds rules. */
describe.each(doors)('reads over %s', (name, door) => {
  it('hide a promoted rule from the few sessions by which it is watched, and from nobody without a session', async () => {
    await insertRules(fixture.db, [{ id: `watched-${name}`, scope: 'watch', rule: `Watch the ${name} door.`, allocation: 0.5 }]);
    const ids = [`watched-${name}`];
    const [sees, misses] = [await sessionIn(fixture.db, 'treatment', ids), await sessionIn(fixture.db, 'control', ids)];
    const read = async (session: string | null) => idsOf((await door(session, { tool: 'read', args: { scope: 'watch' } })).json);
    await eventually(async () => (await read(sees)).includes(ids[0]));
    expect(await read(misses)).not.toContain(ids[0]);
    expect(await read(null)).toContain(ids[0]);
  });
});
