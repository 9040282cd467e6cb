import { Injectable } from '@nestjs/common';
import type { Tier, Turn } from '#contracts';
import type { Lane } from '#domain/scoring';
import { UnitOfWork } from '#persistence';
import { readBody } from '../decode-turn.js';
import type { TurnConfig } from '../turn-config.js';
import { claimJobs, LEASE_S, PAIRS, type Claim, type ClaimedJob } from './job-claims.js';
import { expireJobs, giveUpJob } from './job-expiry.js';
import { saveJobResult, type JobResult } from './job-results.js';
import { answerDue } from './settle-tiers.js';

/** A score that waits to be made. */
export interface Wanted {
  readonly metric: string;
  /** Empty: about the whole turn. */
  readonly trace: string;
  readonly source: string;
  readonly evaluator: string;
}

/** A claimed job with what it takes to do it. */
export interface LoadedJob {
  readonly job: ClaimedJob;
  readonly session: string;
  readonly turn: Turn;
  readonly config: TurnConfig;
  /** At most 16, those of one trace together. */
  readonly wanted: readonly Wanted[];
  /** Shared stages that are known: by trace, then by stage. */
  readonly stages: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
}

/** After so many workers that did not live to say how it went, the job is at fault. */
const CLAIMS_MAX = 5;
const EXPIRED_ROWS = 64;
const DUE_ROWS = 64;

@Injectable()
export class JobStore {
  constructor(private readonly work: UnitOfWork) {}

  /** Whether anything waits in a lane: cheaper than a claim that finds nothing. */
  async hasWork(lane: Lane): Promise<boolean> {
    const [row] = await this.work.read<{ some: boolean }>(
      'SELECT EXISTS (SELECT 1 FROM scoring.score_jobs WHERE lane = $1) AS some',
      [lane],
    );
    return row?.some === true;
  }

  /** Whom the jobs of a lane wait for. */
  providers(lane: Lane): Promise<{ project: string; provider: string }[]> {
    return this.work.read(`${PAIRS} SELECT project, provider FROM pairs`, [lane]);
  }

  /** US dollars of today (UTC), as far as they are recorded. */
  async spentToday(project: string): Promise<number> {
    const [row] = await this.work.read<{ usd: number }>(
      `SELECT cost_usd AS usd FROM scoring.spend WHERE project = $1 AND day = (now() AT TIME ZONE 'utc')::date`,
      [project],
    );
    return row?.usd ?? 0;
  }

  async claim(claim: Claim): Promise<ClaimedJob[]> {
    const claimed = await this.work.run((tx) => claimJobs(tx, claim));
    const deadly = claimed.filter(({ claims }) => claims > CLAIMS_MAX);
    for (const job of deadly)
      await this.giveUp(job, 'evaluator_crashed', 'The processes that tried to make it did not survive it.');
    return claimed.filter((job) => !deadly.includes(job));
  }

  /** What it takes to do these jobs. One whose turn cannot be read, or is gone, is given up: it must not keep the others. */
  async load(jobs: readonly ClaimedJob[]): Promise<LoadedJob[]> {
    if (jobs.length === 0) return [];
    const loaded: LoadedJob[] = [];
    for (const { job, read } of await this.stored(jobs)) {
      try {
        loaded.push(read());
      } catch (error) {
        await this.giveUp(job, 'unreadable', error instanceof Error ? error.message : String(error));
      }
    }
    return loaded;
  }

  private async stored(jobs: readonly ClaimedJob[]): Promise<{ job: ClaimedJob; read: () => LoadedJob }[]> {
    const keys = JSON.stringify(jobs.map(({ s, t, tier, provider, values }) => ({ s, t, tier, provider, values })));
    const [turns, scores, stages] = await Promise.all([
      this.work.read<{ s: string; t: number; session: string; doc: TurnConfig; body: Buffer }>(LOAD_TURNS, [keys]),
      this.work.read<{ s: string; t: number; tier: Tier; provider: string } & Wanted>(LOAD_WANTED, [keys]),
      this.work.read<{ s: string; t: number; trace: string; stage: string; result: unknown }>(LOAD_STAGES, [keys]),
    ]);
    return jobs.map((job) => {
      const own = <Row extends { s: string; t: number }>(rows: readonly Row[]): Row[] =>
        rows.filter(({ s, t }) => s === job.s && t === job.t);
      const wanted = own(scores).filter(({ tier, provider }) => tier === job.tier && provider === job.provider);
      const known = new Map<string, Map<string, unknown>>();
      for (const { trace, stage, result } of own(stages))
        known.set(trace, (known.get(trace) ?? new Map<string, unknown>()).set(stage, result));
      const [turn] = own(turns);
      const read = (): LoadedJob => {
        if (turn === undefined) throw new Error('The turn is not stored any more.');
        return { job, session: turn.session, config: turn.doc, turn: readBody(turn.body), wanted, stages: known };
      };
      return { job, read };
    });
  }

  /** Keeps what this process works on from being taken over. Locked in the order of `expireJobs`. */
  async renew(jobs: readonly ClaimedJob[]): Promise<void> {
    await this.work.run((tx) =>
      tx.query(
        `WITH held AS (SELECT j.s, j.t, j.tier, j.provider FROM scoring.score_jobs j
           JOIN json_to_recordset($1::json) AS k(s uuid, t bigint, tier smallint, provider text, lease uuid) USING (s, t, tier, provider, lease)
           ORDER BY j.s, j.t, j.tier, j.provider FOR UPDATE OF j)
         UPDATE scoring.score_jobs j SET leased_until = now() + interval '${LEASE_S} seconds' FROM held h
         WHERE j.s = h.s AND j.t = h.t AND j.tier = h.tier AND j.provider = h.provider`,
        [JSON.stringify(jobs)],
      ),
    );
  }

  save(result: JobResult): Promise<void> {
    return this.work.run((tx) => saveJobResult(tx, result));
  }

  /** Gives up jobs whose time is over; returns how many, at most `EXPIRED_ROWS`. */
  expire(): Promise<number> {
    return this.work.run((tx) => expireJobs(tx, EXPIRED_ROWS));
  }

  /** Answers tiers that have waited as long as they may, with the rest pending. Returns how many, at most `DUE_ROWS`. */
  answerDue(): Promise<number> {
    return this.work.run((tx) => answerDue(tx, DUE_ROWS));
  }

  private giveUp(job: ClaimedJob, code: string, error: string): Promise<void> {
    return this.work.run((tx) => giveUpJob(tx, job, { code, error }));
  }
}

const KEYS =
  '(SELECT * FROM json_to_recordset($1::json) AS r(s uuid, t bigint, tier smallint, provider text, values int) LIMIT json_array_length($1::json)) AS k';

const LOAD_TURNS = `
SELECT DISTINCT ON (t.s, t.t) t.s, t.t, x.session, c.doc, b.body FROM ${KEYS}
JOIN scoring.turns t USING (s, t) JOIN scoring.turn_bodies b USING (s, t) JOIN scoring.sessions x USING (s) JOIN scoring.configs c ON c.id = t.config`;

const LOAD_WANTED = `
SELECT c.* FROM ${KEYS} CROSS JOIN LATERAL (
  SELECT c.s, c.t, c.tier, c.provider, c.metric, c.trace, c.source, c.evaluator FROM scoring.scores c
  WHERE c.s = k.s AND c.t = k.t AND c.tier = k.tier AND c.provider = k.provider AND c.status = 'pending'
  ORDER BY c.ordinal LIMIT k.values) c`;

const LOAD_STAGES = `
SELECT g.s, g.t, g.trace, g.stage, g.result FROM (SELECT DISTINCT s, t FROM ${KEYS}) k JOIN scoring.judge_stages g USING (s, t)`;
