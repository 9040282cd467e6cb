import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { noticePosted, ruleCandidate, rulePromoted, ruleRetired, turnEvaluated, turnEnded } from '#contracts';
import { armOf, beginTrial, observe, type Arm, type Observation } from '#domain/evidence';
import { sessionKey } from '#domain/ids';
import { testDatabase, type TestDatabase } from '#testing';
import { fleet } from '../../../test/support/fleet.js';
import { Loop } from '../../../test/support/loop.js';
import { ownNats, type OwnServer } from '../../../test/support/own-servers.js';
import { checkInvariants, finalState, firstDifference, type CheckResult } from './index.js';

const MINUTE = 60_000;
const TURNS = fleet({ seed: 7, sessions: 18, turns: 20 });

/** A row that something goes wrong with: of the project under test, the same on every run. */
const aTurn = "(SELECT s, t FROM scoring.turns WHERE project = 'planted' ORDER BY s, t OFFSET 5 LIMIT 1)";
const aNotice = "(SELECT id FROM mailbox.notices WHERE project = 'planted' AND status = 'pending' ORDER BY session, t LIMIT 1)";
const anEpisode = "(SELECT id FROM mailbox.episodes WHERE project = 'planted' AND status = 'open' ORDER BY session, t LIMIT 1)";
const NOTICE_COLUMNS =
  'project, session, s, t, severity, summary, metrics, flagged_traces, scope_hints, recommended_scope, fingerprint, incident_id, episode_id';

interface Fault {
  readonly invariant: number;
  readonly what: string;
  readonly sql: string;
  /** What one of the findings says, where an invariant is broken in several ways. */
  readonly says?: RegExp;
}

/** One episode that a run has ended without a rule, as repair leaves it. */
const REPAIRED = `
  INSERT INTO repair.runs (episode, run, project, ended_at, status, result) SELECT id, 1, project, now(), 'no_proposal', '{}' FROM mailbox.episodes WHERE id = ${anEpisode};
  UPDATE mailbox.notices SET status = 'acknowledged', resolution = '{"kind": "no_proposal", "rule_id": null}' WHERE id = ANY((SELECT notice_ids FROM mailbox.episodes WHERE id = ${anEpisode})::text[]);
  UPDATE mailbox.episodes SET status = 'settled', settled_at = now(), outcome = '{"status": "no_proposal", "rule_id": null, "decided_by": null}' WHERE id = ${anEpisode}`;

/** The trial of a candidate that was retired since, with a counted session in each arm, as validation leaves it. */
async function plantTrial(database: TestDatabase): Promise<void> {
  const [project] = await database.query<{ salt: string }>("SELECT salt FROM edge.projects WHERE project = 'planted'");
  const arms = new Map<Arm, string>();
  for (let n = 0; arms.size < 2; n += 1)
    arms.set(armOf({ ruleId: 'r-tried', sessionId: `tried-${n}`, salt: project?.salt ?? '' }, 0.5), `tried-${n}`);
  const sessions = [...arms].map(([arm, session], at) => ({ arm, session, entry: at + 1, breached: arm === 'control' }));
  const observations = sessions.map(({ arm, breached }): Observation => ({ kind: 'session', arm, breached }));
  const state = observations.reduce(observe, beginTrial(0.5));
  await database.query(
    `INSERT INTO validation.trials (rule, of, project, settings, entries, counted, observations, state, verdict, decided_at, applied) VALUES ('r-tried', 'r-tried', 'planted', '{}', 2, 2, 2, $1, '{"verdict": "stopped"}', now(), true)`,
    [JSON.stringify(state)],
  );
  for (const [at, { arm, session, entry, breached }] of sessions.entries()) {
    const s = sessionKey('planted', session);
    await database.query(
      `INSERT INTO validation.trial_sessions (rule, s, session, entry, arm, exposure_us, outcome) VALUES ('r-tried', $1, $2, $3, $4, 1, $5)`,
      [s, session, entry, arm, breached ? 1 : 0],
    );
    await database.query(`INSERT INTO validation.observations (rule, seq, s, doc) VALUES ('r-tried', $1, $2, $3)`, [
      at + 1,
      s,
      JSON.stringify(observations[at]),
    ]);
  }
}

/** Two rules as they are after their lives: every change with its times, its journal row and its event. */
const RULES = `
  INSERT INTO rules.rules (id, project, seq, rule, rationale, scope, author, normal_hash, status, created_at, promoted_at, retired_at) VALUES
    ('r-active', 'planted', 2, 'Always read the order first.', 'because', 'global', 'repair', 'a', 'active', now() - interval '3 hours', now() - interval '2 hours', NULL),
    ('r-retired', 'planted', 4, 'Never read the order.', 'because', 'global', 'repair', 'b', 'retired', now() - interval '3 hours', now() - interval '2 hours', now());
  INSERT INTO journal.events (id, project, type, rule) VALUES ('j-1', 'planted', 'repair_candidate_added', 'r-active'), ('j-2', 'planted', 'rule_promoted', 'r-active'),
    ('j-3', 'planted', 'rule_edited', 'r-retired'), ('j-4', 'planted', 'rule_promoted', 'r-retired'), ('j-5', 'planted', 'rule_retired', 'r-retired')`;
const RULE_EVENTS = [
  [ruleCandidate, 'r-active'],
  [rulePromoted, 'r-active'],
  [ruleCandidate, 'r-retired'],
  [rulePromoted, 'r-retired'],
  [ruleRetired, 'r-retired'],
] as const;

const faults: Fault[] = [
  { invariant: 1, what: 'a lost turn whose body is left', sql: `DELETE FROM scoring.turns WHERE (s, t) = ${aTurn}` },
  {
    invariant: 1,
    what: 'a turn lost with everything about it',
    sql: `CREATE TEMP TABLE gone AS SELECT s, t FROM scoring.turns WHERE (s, t) = ${aTurn};
      DELETE FROM scoring.turn_bodies WHERE (s, t) = (SELECT s, t FROM gone); DELETE FROM scoring.scores WHERE (s, t) = (SELECT s, t FROM gone);
      DELETE FROM gating.turn_evals WHERE (s, t) = (SELECT s, t FROM gone); DELETE FROM scoring.turns WHERE (s, t) = (SELECT s, t FROM gone)`,
  },
  {
    invariant: 1,
    what: 'a turn that nobody sent',
    sql: `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, answered_1) SELECT s, 9999, project, accepted_us, body_sha, config, 1 FROM scoring.turns WHERE (s, t) = ${aTurn}`,
  },
  { invariant: 2, what: 'a turn without an answer', sql: `UPDATE scoring.turns SET answered_1 = 0 WHERE (s, t) = ${aTurn}` },
  {
    invariant: 2,
    what: 'a turn that waits beyond its deadline',
    sql: `UPDATE scoring.turns SET answered_1 = 0, wait_until = now() - interval '2 minutes' WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 2,
    what: 'an answer that the gate never got',
    sql: `UPDATE gating.turn_evals SET evidence = evidence - '1' WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 2,
    what: 'a tier that was asked for and never answered',
    sql: `UPDATE scoring.turns SET answered_2 = 0 WHERE (s, t) = (SELECT s, t FROM gating.turn_evals WHERE requested & 4 > 0 ORDER BY s, t LIMIT 1)`,
  },
  {
    invariant: 2,
    what: 'a tier that the gate forgot to ask for',
    sql: `UPDATE gating.turn_evals SET requested = 0 WHERE (s, t) = (SELECT s, t FROM gating.turn_evals WHERE requested & 4 > 0 ORDER BY s, t LIMIT 1)`,
  },
  {
    invariant: 2,
    what: "a verifier's answer that never reached its turn",
    sql: `INSERT INTO scoring.posted_scores (s, t, project, session, trace, metric, value, at)
      SELECT s, t, project, 'x', '', 'outcome_correct', 1, now() - interval '2 minutes' FROM scoring.turns WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 3,
    what: 'a changed state',
    sql: `UPDATE gating.turn_evals SET state = jsonb_set(state, '{tracks,task_completion@check,peak}', '0.123') WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 3,
    what: 'a condition that never fired',
    sql: `UPDATE gating.turn_evals SET fired = '{stall:coherence}' WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 3,
    what: 'a changed standing set',
    sql: `UPDATE gating.turn_evals SET standing = standing || '{stall:coherence}' WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 3,
    what: 'a head that is behind',
    sql: `UPDATE gating.heads SET last_t = last_t - 1 WHERE s = (SELECT s FROM ${aTurn} x)`,
  },
  {
    invariant: 3,
    what: 'a head of another state',
    sql: `UPDATE gating.heads SET state = '{"tracks":{},"standing":[]}' WHERE s = (SELECT s FROM ${aTurn} x)`,
  },
  {
    invariant: 4,
    what: 'a report that was never published',
    sql: `UPDATE gating.turn_evals SET rev = rev + 1 WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 4,
    what: 'a published report without a decision',
    sql: `DELETE FROM gating.turn_evals WHERE (s, t) = ${aTurn}`,
  },
  {
    invariant: 4,
    what: 'a report with another content',
    sql: `UPDATE gating.turn_evals SET digest = 'other' WHERE (s, t) = ${aTurn}`,
  },
  { invariant: 5, what: 'a lost notice', sql: `DELETE FROM mailbox.notices WHERE id = ${aNotice}` },
  { invariant: 5, what: 'a notice taken back', sql: `UPDATE mailbox.notices SET status = 'corrected' WHERE id = ${aNotice}` },
  {
    invariant: 5,
    what: 'a notice that no report asks for',
    sql: `INSERT INTO mailbox.notices (id, status, signatures, passage, ${NOTICE_COLUMNS})
      SELECT 'n-spurious', 'pending', '{stall:confidence}', 'post', ${NOTICE_COLUMNS} FROM mailbox.notices WHERE id = ${aNotice}`,
  },
  {
    invariant: 5,
    what: 'the same notice twice, its signatures in another order',
    sql: `INSERT INTO mailbox.notices (id, status, signatures, passage, ${NOTICE_COLUMNS})
      SELECT 'n-double', status, ARRAY(SELECT s FROM unnest(signatures) WITH ORDINALITY AS u(s, n) ORDER BY n DESC), passage, ${NOTICE_COLUMNS}
      FROM mailbox.notices WHERE cardinality(signatures) > 1 ORDER BY session, t LIMIT 1`,
  },
  {
    invariant: 5,
    what: 'an alert memory that forgot',
    sql: `UPDATE mailbox.session_alerts SET memory = NULL WHERE s = (SELECT s FROM mailbox.session_alerts WHERE memory IS NOT NULL ORDER BY s LIMIT 1)`,
  },
  {
    invariant: 6,
    what: 'a posted notice that was never told',
    sql: `INSERT INTO mailbox.notices (id, status, signatures, passage, ${NOTICE_COLUMNS})
      SELECT 'n-untold', 'corrected', '{stall:confidence}', 'post', ${NOTICE_COLUMNS} FROM mailbox.notices WHERE id = ${aNotice}`,
  },
  {
    invariant: 6,
    what: 'a suppressed notice that was told',
    sql: `UPDATE mailbox.notices SET passage = 'suppress', status = 'suppressed' WHERE id = ${aNotice}`,
  },
  {
    invariant: 6,
    what: 'a breach without its eval case',
    sql: `DELETE FROM evalset.cases WHERE id = (SELECT id FROM evalset.cases ORDER BY id LIMIT 1)`,
  },
  {
    invariant: 6,
    what: 'an eval case of a notice that is no breach',
    sql: `UPDATE mailbox.notices SET severity = 'trend' WHERE id = (SELECT notice_id FROM evalset.cases ORDER BY id LIMIT 1)`,
  },
  {
    invariant: 7,
    what: 'more notices than the breaker lets through',
    sql: `DELETE FROM journal.events WHERE type = 'recovery'; INSERT INTO edge.settings (project, version, doc, author, at)
      VALUES ('planted', 2, '{"circuit_breaker_max_notices": 1, "coalesce": "session"}', 'test', 'epoch')`,
  },
  {
    invariant: 8,
    what: 'a notice without an episode',
    sql: `UPDATE mailbox.notices SET episode_id = NULL WHERE id = ${aNotice}`,
  },
  { invariant: 8, what: 'a lost episode', sql: `DELETE FROM mailbox.episodes WHERE id = ${anEpisode}` },
  {
    invariant: 8,
    what: 'a second episode of the same notices',
    sql: `INSERT INTO mailbox.episodes (id, project, s, t, session, incident_id, notice_ids) SELECT 'e-double', project, s, t, session, incident_id, notice_ids FROM mailbox.episodes WHERE id = ${anEpisode}`,
  },
  {
    invariant: 8,
    what: 'an episode of a corrected notice',
    sql: `UPDATE mailbox.notices SET status = 'corrected' WHERE id = (SELECT notice_ids[1] FROM mailbox.episodes WHERE id = ${anEpisode})`,
  },
  {
    invariant: 8,
    what: 'an episode without its incident',
    sql: `DELETE FROM mailbox.incidents WHERE id = (SELECT incident_id FROM mailbox.episodes WHERE id = ${anEpisode})`,
  },
  {
    invariant: 8,
    what: 'two open incidents of one fault',
    sql: `DROP INDEX mailbox.incidents_live; INSERT INTO mailbox.incidents (id, project, fingerprint, status, opened_by)
      SELECT 'i-double', project, fingerprint, status, 'nobody' FROM mailbox.incidents WHERE status = 'open' AND fingerprint IS NOT NULL ORDER BY id LIMIT 1`,
  },
  {
    invariant: 8,
    what: 'a pending notice whose episode has ended',
    sql: `UPDATE mailbox.episodes SET status = 'settled' WHERE id = ${anEpisode}`,
  },
  {
    invariant: 8,
    what: 'an open incident of a fault that a rule covers',
    sql: `DROP INDEX mailbox.incidents_live; INSERT INTO mailbox.incidents (id, project, fingerprint, status, opened_by)
      SELECT 'i-covered', project, fingerprint, 'covered', '' FROM mailbox.incidents WHERE status = 'open' AND fingerprint IS NOT NULL ORDER BY id LIMIT 1`,
  },
  {
    invariant: 8,
    what: 'two live leases of one incident',
    sql: `DROP INDEX repair.work_running; INSERT INTO repair.work (episode, project, incident, s, session, t, state, lease, leased_until)
      SELECT x.episode, 'planted', 'i-x', gen_random_uuid(), 's', 0, 'running', gen_random_uuid(), now() + interval '1 minute' FROM (VALUES ('e-x'), ('e-y')) x(episode)`,
  },
  {
    invariant: 9,
    what: 'an episode that two runs settled',
    sql: `${REPAIRED}; INSERT INTO repair.runs (episode, run, project, ended_at, status, result) SELECT episode, 2, project, now(), status, result FROM repair.runs WHERE run = 1`,
    says: /at most one run that settled it, found 2/,
  },
  {
    invariant: 9,
    what: 'an episode with two candidates',
    sql: `DROP INDEX rules.rules_of_episode; UPDATE rules.rules SET episode = ${anEpisode}`,
    says: /at most one candidate, found r-active, r-retired/,
  },
  {
    invariant: 9,
    what: 'a run that settled an episode which is open',
    sql: `INSERT INTO repair.runs (episode, run, project, ended_at, status, result) SELECT id, 1, project, now(), 'duplicate', '{}' FROM mailbox.episodes WHERE id = ${anEpisode}`,
    says: /settled like its run, found it open/,
  },
  {
    invariant: 9,
    what: 'an episode that ended without a run',
    sql: `${REPAIRED}; DELETE FROM repair.runs WHERE run = 1`,
    says: /the run that it ended by, found none for no_proposal/,
  },
  {
    invariant: 9,
    what: 'an episode that ended otherwise than its run',
    sql: `${REPAIRED}; UPDATE mailbox.episodes SET outcome = jsonb_set(outcome, '{status}', '"duplicate"') WHERE status = 'settled'`,
    says: /found none for duplicate/,
  },
  {
    invariant: 9,
    what: 'a notice that names another rule than the end of its episode',
    sql: `${REPAIRED}; UPDATE mailbox.notices SET resolution = jsonb_set(resolution, '{rule_id}', '"r-other"') WHERE status = 'acknowledged'`,
    says: /found "no_proposal r-other" against "no_proposal"/,
  },
  {
    invariant: 9,
    what: 'a notice that was acknowledged though nothing ended',
    sql: `UPDATE mailbox.notices SET status = 'acknowledged', resolution = '{"kind": "duplicate", "rule_id": "r-active"}' WHERE id = ${aNotice}`,
    says: /found "duplicate r-active" against "no settled episode"/,
  },
  {
    invariant: 9,
    what: 'an episode of a notice for people',
    sql: `UPDATE mailbox.notices SET severity = 'needs_human' WHERE id = (SELECT notice_ids[1] FROM mailbox.episodes WHERE id = ${anEpisode})`,
    says: /no episode for people to repair/,
  },
  {
    invariant: 10,
    what: 'two live rules that say the same',
    sql: `UPDATE rules.rules SET status = 'active', promoted_at = now(), retired_at = NULL, normal_hash = 'other', rule = '  ALWAYS read the order first!! ' WHERE id = 'r-retired'`,
    says: /rule r-retired: expected a text of its own, found that of r-active/,
  },
  {
    invariant: 10,
    what: 'a retired rule that is a candidate again',
    sql: `UPDATE rules.rules SET status = 'candidate' WHERE id = 'r-retired'`,
    says: /times from candidate to active to retired that fit candidate/,
  },
  {
    invariant: 10,
    what: 'a rule that was retired before it was promoted',
    sql: `UPDATE rules.rules SET retired_at = promoted_at - interval '1 minute' WHERE id = 'r-retired'`,
    says: /rule r-retired: expected times/,
  },
  {
    invariant: 10,
    what: 'a rule that nobody was told of',
    sql: `UPDATE rules.rules SET id = 'r-secret' WHERE id = 'r-active'; UPDATE journal.events SET rule = 'r-secret' WHERE rule = 'r-active'`,
    says: /rule r-secret: expected one event of it being candidate, found 0 events/,
  },
  {
    invariant: 10,
    what: 'a promotion that was journaled twice',
    sql: `INSERT INTO journal.events (id, project, type, rule) VALUES ('twice', 'planted', 'rule_promoted', 'r-active')`,
    says: /rule r-active: expected one journal row of it being promoted, found 2 rows/,
  },
  {
    invariant: 11,
    what: 'a session that was counted before one that entered earlier',
    sql: `UPDATE validation.trial_sessions SET entry = 3 - entry + 10 WHERE rule = 'r-tried' AND entry < 3; UPDATE validation.trial_sessions SET entry = entry - 10 WHERE rule = 'r-tried' AND entry > 10`,
    says: /trial r-tried: expected sessions counted in the order of entry/,
  },
  {
    invariant: 11,
    what: 'an observation that was lost',
    sql: `DELETE FROM validation.observations WHERE rule = 'r-tried' AND seq = 2`,
    says: /trial r-tried: expected sessions counted in the order of entry, found 1 counted sessions/,
  },
  {
    invariant: 11,
    what: 'an outcome that changed after it was counted',
    sql: `UPDATE validation.trial_sessions SET outcome = 1 - outcome WHERE rule = 'r-tried' AND entry = 1`,
    says: /trial r-tried: expected an observation as its session ended/,
  },
  {
    invariant: 11,
    what: 'a session in the arm that it is not in by the hash',
    sql: `UPDATE validation.trial_sessions SET arm = CASE arm WHEN 'control' THEN 'treatment' ELSE 'control' END WHERE rule = 'r-tried' AND entry = 1`,
    says: /trial r-tried: expected session .* in (control|treatment), found it in/,
  },
  {
    invariant: 11,
    what: 'sums that do not follow from the observations',
    sql: `UPDATE validation.trials SET state = jsonb_set(state, '{sessions,control,breached}', '7') WHERE rule = 'r-tried'`,
    says: /trial r-tried: expected \{"allocation":0.5/,
  },
  {
    invariant: 12,
    what: 'a candidate that was shown to control',
    sql: `INSERT INTO validation.exposures (s, read_id, project, session, kind, version, rule_ids, withheld_ids, at_us, stored_us)
      SELECT s, 'leak', 'planted', session, 'read', 1, '{r-tried}', '{}', 1, 1 FROM validation.trial_sessions WHERE rule = 'r-tried' AND arm = 'control' LIMIT 1`,
    says: /trial r-tried: expected nothing of it in answers to control/,
  },
  {
    invariant: 13,
    what: 'an outbox row of the gateway left behind',
    sql: `INSERT INTO gateway.outbox (id, subject, payload) VALUES ('left', 'fm.planted.rule.changed', '{}')`,
  },
  {
    invariant: 13,
    what: 'an outbox row left behind',
    sql: `INSERT INTO gating.outbox (id, subject, payload) VALUES ('left', 'fm.planted.turn.evaluated', '{}')`,
  },
  {
    invariant: 13,
    what: 'attempts of a message that is neither dead nor alive',
    sql: `INSERT INTO mailbox.attempts (consumer, event, attempts) VALUES ('mailbox-reports', 'FM_REPORTS:1', 2)`,
  },
];

describe('the checker', () => {
  let nats: OwnServer;
  let database: TestDatabase;
  let loop: Loop;
  let copies = 0;
  const made: string[] = [];

  beforeAll(async () => {
    [nats, database] = await Promise.all([ownNats(), testDatabase()]);
    const settings = { circuit_breaker_max_notices: 0, capture_eval_cases: true };
    loop = await Loop.open({ natsUrl: nats.url, databaseUrl: database.url, settings });
    loop.start();
    await loop.createProject('planted');
    // Settings need a moment to reach every service before a notice surely has its eval case.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await loop.publish('planted', TURNS);
    await loop.send(
      RULE_EVENTS.map(([event, rule], n) => ({
        id: `rule-${n}`,
        subject: event.subject('planted', 'global'),
        data: JSON.stringify({ rule_id: rule, scope: 'global', version: n + 1, by: 'test', reason: null, episode_id: null }),
      })),
    );
    await database.query(RULES);
    await plantTrial(database);
    await loop.quiet(MINUTE);
    await Promise.all(loop.services.map((service) => service.stop()));
  }, 2 * MINUTE);

  afterEach(async () => {
    for (const name of made.splice(0)) await onServer((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
  });

  afterAll(async () => {
    await loop.close();
    await nats.drop();
    await database.drop();
  });

  async function onServer<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const url = new URL(database.url);
    url.pathname = '/postgres';
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** A copy of the database after the clean run, with something done to it. */
  async function copyWith(sql: string): Promise<string> {
    const url = new URL(database.url);
    const original = url.pathname.slice(1);
    copies += 1;
    const name = `${original}_${copies}`;
    await onServer(async (client) => {
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [original]);
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${original}`);
    });
    made.push(name);
    url.pathname = `/${name}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    await client.query(sql);
    await client.end();
    return url.href;
  }

  function check(databaseUrl: string): Promise<CheckResult> {
    return checkInvariants({ databaseUrl, natsUrl: nats.url, expected: TURNS.length, quietMs: 300 });
  }

  it(
    'finds nothing wrong after a clean run, and has counted',
    async () => {
      const { violations, counted } = await check(database.url);
      expect(violations).toEqual([]);
      expect(counted).toMatchObject({ turns: TURNS.length, evaluated: TURNS.length, sessions: 18, attempts: 0, dead_turns: 0 });
      for (const name of ['reports', 'notices', 'posted_notices', 'notice_events', 'episodes', 'open_incidents'])
        expect([name, counted[name]]).toEqual([name, expect.any(Number)]);
      expect(counted['notice_events']).toBeGreaterThan(10);
      expect(counted['notice_events']).toBe(counted['posted_notices']);
    },
    MINUTE,
  );

  it.each(faults)(
    'finds $what (invariant $invariant)',
    async ({ invariant, sql, says = /./ }) => {
      const { violations } = await check(await copyWith(sql));
      const own = violations.filter((one) => one.invariant === invariant).map(({ detail }) => detail);
      expect(own).not.toEqual([]);
      expect(own[0]).toMatch(/expected .*found |expects .*found /s);
      expect(own.filter((detail) => says.test(detail))).not.toEqual([]);
    },
    MINUTE,
  );

  it(
    'leaves alone an episode that was repaired',
    async () => {
      const { violations, counted } = await check(await copyWith(REPAIRED));
      expect(violations).toEqual([]);
      expect(counted).toMatchObject({ settled_episodes: 1, repair_runs: 1, rules: 2 });
    },
    MINUTE,
  );

  it(
    'leaves alone what may be: an acknowledged notice that nobody asks for any more, a turn within its time to wait',
    async () => {
      const url = await copyWith(
        `UPDATE scoring.turns SET wait_until = now() + interval '1 minute' WHERE (s, t) = ${aTurn};
       INSERT INTO mailbox.notices (id, status, signatures, passage, ${NOTICE_COLUMNS})
         SELECT 'n-done', 'acknowledged', '{stall:confidence}', 'shadow', ${NOTICE_COLUMNS} FROM mailbox.notices WHERE id = ${aNotice}`,
      );
      expect((await check(url)).violations).toEqual([]);
    },
    MINUTE,
  );

  it(
    'shows where two final states differ, and that equal ones do not',
    async () => {
      const clean = await finalState({ databaseUrl: database.url, project: 'planted' });
      const again = await finalState({ databaseUrl: await copyWith('SELECT 1') });
      const other = await finalState({
        databaseUrl: await copyWith(
          `UPDATE scoring.scores SET value = 0.125 WHERE metric = 'task_completion' AND (s, t) = ${aTurn}`,
        ),
      });
      expect(again.get('planted')?.digest).toBe(clean.get('planted')?.digest);
      expect(firstDifference(clean.get('planted'), again.get('planted'))).toBeNull();
      expect(other.get('planted')?.digest).not.toBe(clean.get('planted')?.digest);
      expect(firstDifference(clean.get('planted'), other.get('planted'))).toContain('0.125');
      const kinds = new Set(clean.get('planted')?.lines.map((line) => (JSON.parse(line) as string[])[0]));
      expect([...kinds].sort()).toEqual([
        'accepted',
        'alerting',
        'episode',
        'head',
        'notice',
        'report',
        'score',
        'series',
        'turn',
      ]);
    },
    MINUTE,
  );

  describe('reads the streams, which now get what they should not', () => {
    it(
      'a second body of a revision, and a report of a turn that nobody knows (invariant 4)',
      async () => {
        const body = { session_id: 'healthy-0', turn_index: 0, revision: 1, signatures: [] };
        const subject = turnEvaluated.subject('planted');
        await loop.send([
          { id: null, subject, data: JSON.stringify(body) },
          { id: null, subject, data: JSON.stringify({ ...body, session_id: 'stranger' }) },
        ]);
        const { violations } = await check(database.url);
        const details = violations.filter(({ invariant }) => invariant === 4).map(({ detail }) => detail);
        expect(details).toContain('planted/healthy-0 turn 0: expected one body of revision 1, found 2');
        expect(details).toContain('planted/stranger turn 0: expected the decision behind a published report, found none');
        // Nobody has read them: the mailbox is stopped.
        expect(violations.map(({ invariant }) => invariant)).toContain(13);
      },
      MINUTE,
    );

    it(
      'a notice told twice, and one that does not exist (invariant 6)',
      async () => {
        const [row] = await loop.rows<{ id: string; session: string; t: string; signatures: string[] }>(
          "SELECT id, session, t, signatures FROM mailbox.notices WHERE passage = 'post' ORDER BY id LIMIT 1",
        );
        const notice = { id: row?.id, session_id: row?.session, turn_index: Number(row?.t), signatures: row?.signatures };
        const subject = noticePosted.subject('planted', 'trend', 'x');
        await loop.send([
          { id: null, subject, data: JSON.stringify(notice) },
          { id: null, subject, data: JSON.stringify({ ...notice, id: 'n-nobody' }) },
        ]);
        const { violations } = await check(database.url);
        const details = violations.filter(({ invariant }) => invariant === 6).map(({ detail }) => detail);
        expect(details.some((detail) => detail.includes(`${row?.id ?? ''}: expected one notice.posted event, found 2`))).toBe(
          true,
        );
        expect(details.some((detail) => detail.includes('notice n-nobody: expected a posted notice'))).toBe(true);
      },
      MINUTE,
    );

    it(
      'a turn that nobody has stored (invariants 1 and 13)',
      async () => {
        await loop.send([
          { id: null, subject: turnEnded.subject('planted'), data: JSON.stringify({ ...TURNS[0], turn_index: 500 }) },
        ]);
        const found = (await check(database.url)).violations.map(({ invariant }) => invariant);
        expect(found).toEqual(expect.arrayContaining([1, 13]));
      },
      MINUTE,
    );
  });
});
