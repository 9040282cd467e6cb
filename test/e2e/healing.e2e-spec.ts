import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RuleReaderSession, RuleWatch, TrialView } from '#contracts';
import { armOf, evaluateTrial, type Arm, type Observation, type TrialSettings, type TrialState } from '#domain/evidence';
import { contentHash } from '#domain/ids';
import { normalRuleText } from '#domain/rules';
import { eventually, testDatabase, testNats, type TestDatabase, type TestNats } from '#testing';
import { failureModes, ruleText, type Effect, type ModeName } from '#testing/fleet';
import { GatewayProcess } from '../support/gateway.js';
import { Loop, serviceEnv } from '../support/loop.js';
import { runFleet } from '../support/reading-fleet.js';
import { ServiceProcess } from '../support/service-process.js';

const MINUTE = 60_000;
const PROJECT = 'default';
const SALT = 'a fixed salt, so that every session is in the same arm each time';
const SESSIONS = 240;
const AT_ONCE = 200;
/** Longer than a validation worker takes to start, so that some of them work in between. */
const KILL_MS = 1_500;

/** One rule for each way to fail; what it does is known to the fleet, and to nobody else. */
const PLANTED: readonly { readonly id: string; readonly mode: ModeName; readonly effect: Effect }[] = [
  { id: 'r-helps', mode: 'misused_tool', effect: 'helpful' },
  { id: 'r-idles', mode: 'missing_argument', effect: 'placebo' },
  { id: 'r-harms', mode: 'loop', effect: 'harmful' },
];

interface TrialRow {
  readonly rule: string;
  readonly settings: TrialSettings;
  readonly state: TrialState;
  readonly verdict: { readonly verdict: string; readonly reason?: string } | null;
}

describe('a fleet of 200 sessions at a time, with two validation workers that are killed', () => {
  let db: TestDatabase;
  let nats: TestNats;
  let loop: Loop;
  let gateway: GatewayProcess;
  let second: ServiceProcess;

  beforeAll(async () => {
    [db, nats] = await Promise.all([testDatabase(), testNats()]);
    const options = { natsUrl: nats.url, databaseUrl: db.url, ackWaitMs: 2_000 };
    loop = await Loop.open(options);
    await db.query('UPDATE edge.projects SET salt = $1 WHERE project = $2', [SALT, PROJECT]);
    await loop.createProject(PROJECT, { trial_max_sessions: 60, circuit_breaker_max_notices: 0 });
    await db.query('INSERT INTO rules.versions (project, version) VALUES ($1, 1)', [PROJECT]);
    for (const { id, mode, effect } of PLANTED) {
      const text = ruleText(mode, effect);
      const { scope, metric } = failureModes[mode];
      await db.query(
        `INSERT INTO rules.rules (id, project, seq, rule, rationale, metric, scope, author, normal_hash) VALUES ($1, $2, 1, $3, '', $4, $5, 'repair', $6)`,
        [id, PROJECT, text, metric, scope, contentHash(normalRuleText(text))],
      );
    }
    loop.start();
    for (const service of loop.services) service.immortal = true;
    second = new ServiceProcess('validation', serviceEnv(options));
    second.immortal = true;
    second.start();
    const prepared = await GatewayProcess.prepare(serviceEnv(options));
    if (prepared === undefined) throw new Error('the gateway is not built');
    gateway = prepared;
    gateway.service.start();
    await eventually(async () => (await fetch(`${gateway.url}/readyz`)).ok, MINUTE);
  }, 2 * MINUTE);

  afterAll(async () => {
    await second.kill();
    await gateway.service.kill();
    await loop.close();
    await Promise.all([db.drop(), nats.drop()]);
  }, MINUTE);

  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${gateway.url}${path}`);
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const trials = () =>
    loop.rows<TrialRow>("SELECT rule, settings, state, verdict FROM validation.trials WHERE kind = 'candidate' ORDER BY rule");
  const observationsOf = async (rule: string): Promise<Observation[]> => {
    const rows = await loop.rows<{ doc: Observation }>('SELECT doc FROM validation.observations WHERE rule = $1 ORDER BY seq', [
      rule,
    ]);
    return rows.map(({ doc }) => doc);
  };

  it(
    'promotes what helps, retires what harms as harmful and what does nothing as unproven, by observations that tell the same again',
    async () => {
      const sessions = Array.from({ length: SESSIONS }, (_, n) => `agent-${n}`);
      const rates = { misused_tool: 0.5, missing_argument: 0.5, loop: 0.5 };
      const factors = { helpful: 0.1, placebo: 1, harmful: 2 };
      const done = new AbortController();
      const killing = (async () => {
        const validation = loop.services.filter(({ name }) => name === 'validation');
        let kills = 0;
        for (; !done.signal.aborted; kills += 1) {
          await sleep(KILL_MS);
          const victim = [...validation, second][kills % 2];
          await victim?.kill();
          victim?.start();
        }
        return kills;
      })();
      await runFleet(
        gateway.url,
        sessions,
        { seed: 11, rates, factors },
        {
          ...{ atOnce: AT_ONCE, publish: (turn) => loop.publish(PROJECT, [turn]) },
        },
      );
      await eventually(async () => (await trials()).every(({ verdict }) => verdict !== null), 3 * MINUTE);
      done.abort();
      expect(await killing).toBeGreaterThan(1);
      const status = await loop.rows('SELECT id, status, retired_reason FROM rules.rules ORDER BY id');
      expect(status).toEqual([
        { id: 'r-harms', status: 'retired', retired_reason: 'harmful' },
        { id: 'r-helps', status: 'active', retired_reason: null },
        { id: 'r-idles', status: 'retired', retired_reason: 'unproven' },
      ]);
      for (const { rule, settings, state, verdict } of await trials()) {
        const observations = await observationsOf(rule);
        const again = evaluateTrial(observations, { allocation: 0.5, settings });
        expect({ rule, state: again.state, verdict: again.verdict.verdict }).toEqual({ rule, state, verdict: verdict?.verdict });
      }
      const arms = await loop.rows<{ rule: string; session: string; arm: Arm }>(
        'SELECT rule, session, arm FROM validation.trial_sessions WHERE rule NOT LIKE $1',
        ['%~%'],
      );
      expect(
        arms.filter(({ rule, session, arm }) => arm !== armOf({ ruleId: rule, sessionId: session, salt: SALT }, 0.5)),
      ).toEqual([]);
      await loop.quiet();
      const trial = await get<TrialView>('/v1/candidates/r-helps/trial');
      expect(trial).toMatchObject({ verdict: 'promote', source: 'live' });
      expect(trial.evidence.total.help).toBeGreaterThanOrEqual(trial.bound);
      expect(trial.course.at(-1)?.help).toBe(trial.evidence.total.help);
      expect((await get<{ items: unknown[] }>('/v1/pending-trials')).items).toEqual([]);
      const [watch] = await eventually(async () => {
        const { items } = await get<{ items: RuleWatch[] }>('/v1/watches');
        return items.length > 0 && items;
      });
      expect(watch).toMatchObject({ id: 'r-helps~1', rule_id: 'r-helps', verdict: 'watching' });
      const { items: readers } = await get<{ items: RuleReaderSession[] }>('/v1/rules/inventory/r-harms/readers?limit=200');
      const shown = arms.filter(({ rule, arm }) => rule === 'r-harms' && arm === 'treatment').map(({ session }) => session);
      expect(readers.map(({ session_id: session }) => session).sort()).toEqual(shown.sort());
      // The candidates were planted as rows: nobody told of them.
      expect((await loop.violations()).filter((line) => !line.includes('of it being candidate'))).toEqual([]);
    },
    8 * MINUTE,
  );
});
