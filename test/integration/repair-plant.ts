import { contentHash, episodeId, incidentId, sessionKey } from '#domain/ids';
import type { TestDatabase } from '#testing';

/** An episode as the mailbox leaves it: its turn with traces and scores, its report, its notices, its incident. */
export interface Plant {
  readonly project?: string;
  readonly session?: string;
  readonly t?: number;
  /** One notice each, in order. */
  readonly notices?: readonly PlantedNotice[];
  readonly traces?: readonly object[];
  readonly endState?: object | null;
  readonly taskSummary?: string;
  /** Episodes with the same one share an incident; null: an incident of its own. */
  readonly fingerprint?: string | null;
}

export interface PlantedNotice {
  readonly signatures?: readonly string[];
  readonly flagged?: readonly string[];
  readonly reason?: string;
  readonly hints?: readonly object[];
  readonly recommended?: string | null;
}

export interface Planted {
  readonly episode: string;
  readonly incident: string;
  readonly notices: readonly string[];
  readonly session: string;
}

let planted = 0;

/** A trace with one call that failed. */
export function failingTrace(trace_id = 't1', more: object = {}): object {
  const span = {
    ...{
      span_id: 'c1',
      name: 'pay',
      kind: 'TOOL',
      status: 'ERROR',
      input: { bill: 17 },
      error: { message: 'bill 17 is paid already' },
    },
    started_at: 1,
  };
  return { trace_id, started_at: 1, input: 'pay my bill', output: 'It is paid.', spans: [span], ...more };
}

export async function plantEpisode(db: TestDatabase, plant: Plant = {}): Promise<Planted> {
  planted += 1;
  const { project = 'default', session = `s${planted}`, t = 0, notices = [{}], fingerprint = null } = plant;
  const s = sessionKey(project, session);
  const ids = notices.map((_, at) => `n-${String(planted).padStart(6, '0')}-${at}`);
  const episode = episodeId(ids);
  const [known] = fingerprint === null ? [] : await db.query<{ id: string }>(OPEN_INCIDENT, [project, fingerprint]);
  const incident = known?.id ?? incidentId(episode);
  await plantTurn(db, { s, t, project, session, plant });
  await db.query(`INSERT INTO mailbox.session_alerts (s, project, session) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, [
    s,
    project,
    session,
  ]);
  if (known === undefined)
    await db.query('INSERT INTO mailbox.incidents (id, project, fingerprint, opened_by) VALUES ($1, $2, $3, $4)', [
      ...[incident, project, fingerprint, episode],
    ]);
  for (const [at, notice] of notices.entries())
    await plantNotice(db, { id: ids[at] ?? '', s, t, project, session, incident, episode, notice });
  await db.query(
    `INSERT INTO mailbox.episodes (id, project, s, t, session, incident_id, notice_ids, recommended_scope) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [episode, project, s, t, session, incident, ids, notices[0]?.recommended ?? null],
  );
  return { episode, incident, notices: ids, session };
}

const OPEN_INCIDENT = `SELECT id FROM mailbox.incidents WHERE project = $1 AND fingerprint = $2 AND status IN ('open', 'suppressed', 'covered')`;

interface PlantedTurn {
  readonly s: string;
  readonly t: number;
  readonly project: string;
  readonly session: string;
  readonly plant: Plant;
}

async function plantTurn(db: TestDatabase, { s, t, project, session, plant }: PlantedTurn): Promise<void> {
  const { traces = [failingTrace()], endState = null, taskSummary = 'Pay the electricity bill.' } = plant;
  const body = { session_id: session, turn_index: t, task_summary: taskSummary, tools: [{ name: 'pay' }], traces };
  await db.query(
    `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, end_state) VALUES ($1, $2, $3, 1, '\\x00', 'c', $4) ON CONFLICT DO NOTHING`,
    [s, t, project, endState === null ? null : JSON.stringify(endState)],
  );
  await db.query('INSERT INTO scoring.turn_bodies (s, t, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    ...[s, t, Buffer.from(JSON.stringify(body))],
  ]);
  await db.query(
    `INSERT INTO scoring.scores (s, t, tier, trace, metric, source, evaluator, ordinal, status, value, reason)
     VALUES ($1, $2, 2, 't1', 'tool_correctness', 'check', 'check/1', 0, 'scored', 0.2, 'pay failed') ON CONFLICT DO NOTHING`,
    [s, t],
  );
  const signals = [{ trace_id: 't1', failing_tools: ['pay'], error: 'bill 17 is paid already' }];
  await db.query(
    `INSERT INTO gating.turn_evals (s, t, accepted_us, config, evidence, signals, partial, state, fired, standing, measured, rev, report)
     VALUES ($1, $2, 1, 'c', '{}', $3, false, '{}', '{}', '{}', true, 1, $4) ON CONFLICT DO NOTHING`,
    [s, t, JSON.stringify(signals), JSON.stringify(reportOf(session, t))],
  );
}

function reportOf(session: string, t: number): object {
  const score = {
    ...{
      metric: 'tool_correctness',
      trace_id: 't1',
      status: 'scored',
      value: 0.2,
      source: 'check',
      evaluator: 'check/1',
      tier: 2,
    },
    ...{ reason: 'pay failed', code: null, spans: ['c1'], threshold: 0.5, conditions: ['breach'] },
  };
  return {
    ...{ session_id: session, turn_index: t, revision: 1, accepted_at: 1, complete: true, partial: false, skipped: null },
    ...{
      severity: 'breach',
      signatures: ['breach:tool_correctness'],
      fired: ['breach:tool_correctness'],
      flagged_traces: ['t1'],
    },
    ...{ scores: [score], signals: [] },
  };
}

interface NoticePlace extends Omit<PlantedTurn, 'plant'> {
  readonly id: string;
  readonly incident: string;
  readonly episode: string;
  readonly notice: PlantedNotice;
}

async function plantNotice(
  db: TestDatabase,
  { id, s, t, project, session, incident, episode, notice }: NoticePlace,
): Promise<void> {
  const {
    signatures = ['breach:tool_correctness'],
    flagged = ['t1'],
    reason = 'pay failed',
    hints = [],
    recommended = null,
  } = notice;
  const metric = {
    ...{
      metric: 'tool_correctness',
      tier: 2,
      trace_id: 't1',
      value: 0.2,
      threshold: 0.5,
      reason,
      code: null,
      conditions: ['breach'],
    },
  };
  await db.query(
    `INSERT INTO mailbox.notices (id, project, session, s, t, severity, status, signatures, summary, metrics, flagged_traces, scope_hints, recommended_scope, incident_id, episode_id, passage)
     VALUES ($1, $2, $3, $4, $5, 'breach', 'pending', $6, $7, $8, $9, $10, $11, $12, $13, 'post')`,
    [
      ...[
        id,
        project,
        session,
        s,
        t,
        [...signatures, `stall:${contentHash(id).slice(0, 6)}`],
        'tool_correctness=0.20 [breach, threshold 0.50]',
      ],
      ...[JSON.stringify([metric]), flagged, JSON.stringify(hints), recommended, incident, episode],
    ],
  );
}
