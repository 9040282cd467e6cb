import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rpcSubject, ruleTools, type RuleToolOutput } from '#contracts';
import { codePointLength } from '#domain/text';
import { eventually } from '#testing';
import { openGateway, type Fixture } from './fixture.js';
import { insertRules, sessionIn } from './rules.js';

/** What READ_BOUNDS lets through. */
const MOST_RULES = 100;
const MOST_TEXT = 40_000;
const LONG = 'Check every line of the order twice before it is confirmed. '.repeat(30);

let fixture: Fixture;
let session: string;
beforeAll(async () => {
  fixture = await openGateway();
  const spread = Array.from({ length: 5_000 }, (_, n) => ({ id: `s-${n}`, scope: `scope-${n % 300}` }));
  const crowded = Array.from({ length: 4_500 }, (_, n) => ({ id: `c-${n}`, scope: 'crowded' }));
  const long = Array.from({ length: 500 }, (_, n) => ({ id: `l-${n}`, scope: 'long', rule: `${n}: ${LONG}` }));
  await insertRules(fixture.db, [
    ...spread,
    ...crowded.map((rule, n) => ({ ...rule, status: n % 2 === 0 ? ('active' as const) : ('candidate' as const) })),
    ...long,
  ]);
  session = await sessionIn(fixture.db, 'treatment', ['c-1', 'c-3']);
}, 60_000);
afterAll(async () => {
  await fixture.close();
}, 30_000);

async function get<Output>(path: string): Promise<Output> {
  const { status, text } = await fixture.call('GET', path, { headers: { 'fleetmend-session': session } });
  expect(status).toBe(200);
  return JSON.parse(text) as Output;
}

describe('with 10,000 rules', () => {
  it('a scope shows what fits, the proven ones first, and says that there is more', async () => {
    const { rules, provisional, note } = await get<RuleToolOutput<'read'>>('/v1/rules/scopes/crowded');
    expect([rules.length, provisional]).toEqual([MOST_RULES, null]);
    expect(rules[0]?.id).toBe('c-0');
    expect(note).toMatch(/2150 more active rule\(s\) and 2250 more provisional rule\(s\) available: search/);
  });

  it('long rules are held to what a model can read', async () => {
    const { rules } = await get<RuleToolOutput<'read'>>('/v1/rules/scopes/long');
    const length = rules.reduce((sum, { rule, rationale }) => sum + rule.length + rationale.length, 0);
    expect(rules.length).toBeGreaterThan(5);
    expect(length).toBeLessThanOrEqual(MOST_TEXT);
  });

  it('the list names 200 scopes and says how many there are beside them', async () => {
    const { scopes, note } = await get<RuleToolOutput<'list'>>('/v1/rules');
    expect(scopes).toHaveLength(200);
    expect(note).toMatch(/102 more scope/);
    const { text } = await fixture.call('GET', '/v1/rules?format=md');
    expect(text).not.toContain('Check every line');
    expect(text.length).toBeLessThan(40_000);
  });

  it('a search shows 50 at most, of 240 characters each', async () => {
    const { rules, provisional } = await get<RuleToolOutput<'search'>>('/v1/rules?q=check%20order%20advice&limit=50');
    const found = [...rules, ...(provisional?.rules ?? [])];
    expect(found.length).toBeLessThanOrEqual(50);
    expect(found.length).toBeGreaterThan(40);
    for (const { snippet } of found) expect(codePointLength(snippet)).toBeLessThanOrEqual(240);
    expect((await fixture.call('GET', '/v1/rules?q=a&limit=51')).status).toBe(422);
    expect((await fixture.call('GET', `/v1/rules?q=${'a'.repeat(1_001)}`)).status).toBe(422);
  });

  it('an answer over NATS fits a message, and its schema', async () => {
    const nc = await fixture.nats.connect();
    for (const scope of ['crowded', 'long']) {
      const answer = await nc.request(rpcSubject('default', 'rules.read'), JSON.stringify({ scope }), { timeout: 10_000 });
      expect(answer.data.length).toBeLessThan(200_000);
      ruleTools.read.output.parse(answer.json());
    }
  });

  it('the switch for everything hides every one in one version', async () => {
    const before = await get<RuleToolOutput<'list'>>('/v1/rules');
    const { body } = await fixture.call('POST', '/v1/rules/withdraw', { body: { all: true, reason: 'stop' } });
    const { version, rule_ids: ids } = body as unknown as { version: number; rule_ids: string[] };
    expect([version, ids.length]).toEqual([before.version + 1, 10_000]);
    await eventually(async () => {
      const after = await get<RuleToolOutput<'list'>>('/v1/rules');
      return after.version === version && after.scopes.length === 0 && after.note === 'No rules here.';
    });
    expect((await fixture.db.query("SELECT count(*)::int AS n FROM journal.events WHERE type = 'rule_withdrawn'"))[0]).toEqual({
      n: 10_000,
    });
  }, 60_000);
});
