import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager, type JetStreamClient } from '@nats-io/jetstream';
import { loadSettings } from '#config';
import { ruleExposed, type RuleExposed } from '#contracts';
import { sessionKey } from '#domain/ids';
import type { RunningService } from '#service';
import { eventually, testDatabase, testNats, type TestDatabase, type TestNats } from '#testing';
import { insertRules } from '../../services/gateway/test/rules.js';
import { startValidation } from '../../services/validation/src/validation.module.js';

let db: TestDatabase;
let nats: TestNats;
let js: JetStreamClient;
const running: RunningService[] = [];

beforeAll(async () => {
  [db, nats] = await Promise.all([testDatabase(), testNats()]);
  js = jetstream(await nats.connect());
}, 60_000);
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
}, 30_000);
afterAll(async () => {
  await nats.drop();
  await db.drop();
}, 30_000);

async function start(): Promise<void> {
  const settings = { nats_url: nats.url, database_url: db.url, log_level: 'silent', shutdown_grace_s: 2 };
  running.push(await startValidation(loadSettings({}, settings)));
}

const read = (n: number, more: Partial<RuleExposed> = {}): RuleExposed => ({
  ...{ read_id: `read-${n}`, session_id: `session ${n % 3}`, turn_index: n % 2 === 0 ? n : null, kind: 'read', version: 4 },
  ...{ rule_ids: ['r-1', `r-${n}`], withheld_ids: n % 2 === 0 ? [] : ['r-9'], at: 1_790_000_000_000_000 + n },
  ...more,
});
const publish = (payload: unknown) => js.publish(ruleExposed.subject('default'), JSON.stringify(payload));
const stored = () => db.query('SELECT * FROM validation.exposures ORDER BY at_us, read_id');

describe('exposures', () => {
  it('are stored once each, whatever comes again, by however many workers', async () => {
    const reads = Array.from({ length: 60 }, (_, n) => read(n));
    for (const one of [...reads, ...reads.slice(0, 20), ...reads.slice(0, 20).reverse()]) await publish(one);
    await Promise.all([start(), start()]);
    await eventually(async () => (await stored()).length >= 60, 15_000);
    await publish(read(0));
    await publish(read(60));
    await eventually(async () => (await stored()).length === 61);
    const rows = await stored();
    expect(rows.map(({ read_id }) => read_id)).toEqual(Array.from({ length: 61 }, (_, n) => `read-${n}`));
    expect(rows[1]).toMatchObject({
      ...{ s: sessionKey('default', 'session 1'), project: 'default', session: 'session 1', t: null, kind: 'read', version: 4 },
      ...{ rule_ids: ['r-1', 'r-1'], withheld_ids: ['r-9'], at_us: 1_790_000_000_000_001 },
    });
    expect(Number(rows[1]?.['stored_us'])).toBeGreaterThan(1_700_000_000_000_000);
  }, 60_000);

  it('that cannot be read become dead letters and hold nothing up', async () => {
    await start();
    await publish({ nonsense: true });
    await publish(read(100));
    await eventually(async () => (await stored()).some(({ read_id }) => read_id === 'read-100'));
    const dead = await (
      await jetstreamManager(await nats.connect())
    ).streams.getMessage('FM_DEAD', {
      last_by_subj: 'fm.default.dead.validation-exposures',
    });
    expect(dead?.string()).toContain('nonsense');
  }, 60_000);
});

describe('held candidates', () => {
  it('are let go when the time for objections is over, once, and never one that waits for a word', async () => {
    const heard: [string, unknown][] = [];
    (await nats.connect()).subscribe('live.fm.*.rule.>', {
      callback: (_, message) => void heard.push([message.subject, message.json()]),
    });
    await db.query("INSERT INTO edge.projects (project) VALUES ('other')");
    await insertRules(db, [
      { id: 'due', status: 'candidate', hold: 'veto', heldFor: -1 },
      { id: 'due-too', status: 'candidate', hold: 'veto', heldFor: -1 },
      { id: 'later', status: 'candidate', hold: 'veto', heldFor: 3_600 },
      { id: 'asked', status: 'candidate', hold: 'approval' },
    ]);
    await insertRules(db, [{ id: 'foreign', status: 'candidate', hold: 'veto', heldFor: -1 }], 'other');
    await Promise.all([start(), start()]);
    const held = () => db.query<{ id: string }>('SELECT id FROM rules.rules WHERE hold IS NOT NULL ORDER BY id');
    await eventually(async () => (await held()).length === 2, 10_000);
    expect((await held()).map(({ id }) => id)).toEqual(['asked', 'later']);
    await eventually(() => heard.length >= 2);
    expect(heard.sort()).toEqual([
      ['live.fm.default.rule.changed', { version: 2 }],
      ['live.fm.other.rule.changed', { version: 2 }],
    ]);
    expect(await db.query('SELECT id, seq FROM rules.rules WHERE held_until IS NULL AND hold IS NULL ORDER BY id')).toEqual([
      { id: 'due', seq: 2 },
      { id: 'due-too', seq: 2 },
      { id: 'foreign', seq: 2 },
    ]);
    const journal = await db.query("SELECT rule FROM journal.events WHERE type = 'rule_released' ORDER BY rule");
    expect(journal).toEqual([{ rule: 'due' }, { rule: 'due-too' }, { rule: 'foreign' }]);
  }, 60_000);
});
