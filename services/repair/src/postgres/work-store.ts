import { Injectable } from '@nestjs/common';
import type { RepairResult } from '#contracts';
import type { EpisodeFacts, TraceFacts } from '#domain/repair';
import { UnitOfWork, type Transaction } from '#persistence';
import type { ClaimedEpisode } from '../claimed-episode.js';
import { LeaseLost } from '../lease-lost.js';
import { RunStopped } from '../run/run-time.js';

/** What a project lets its repairs cost. 0: no limit. */
export interface ProjectLimit {
  readonly project: string;
  readonly model: string;
  readonly per_hour: number;
  readonly usd: number;
  /** Held back of the day's budget for each run in progress. */
  readonly run_usd: number;
  readonly observe: boolean;
}

/** One episode that came to its end with a run. */
export interface SettledEpisode {
  readonly episode: string;
  readonly project: string;
  readonly s: string;
  readonly session: string;
  readonly t: number;
  readonly notice_ids: readonly string[];
  readonly kind: RepairResult['status'];
  readonly rule_id: string | null;
  /** Of the episode that was repaired; null for those that took its end. */
  readonly result: RepairResult | null;
}

/** What a run says of itself; its times are the database's. */
export type RunReport = Omit<RepairResult, 'started_at' | 'ended_at'>;

interface ClaimRow extends Omit<ClaimedEpisode, 'noticeIds' | 'recommendedScope' | 'cover' | 'lease'> {
  readonly notice_ids: readonly string[];
  readonly recommended_scope: string | null;
  readonly cover: { rule_id: string; status: 'candidate' | 'active' | 'retired'; withdrawn: boolean; shown: boolean } | null;
}

/** Seconds that ending a run may take. */
const LAST_LEASE_S = 30;

/** The functions of schema `repair`: all that this service may do outside it. Each checks the lease. */
@Injectable()
export class WorkStore {
  constructor(private readonly work: UnitOfWork) {}

  /** Returns how many wait by this call. */
  async enqueue(episodes: readonly string[]): Promise<number> {
    const ids = [...new Set(episodes)].sort();
    const [row] = await this.work.run((tx) => tx.query<{ n: number }>('SELECT repair.enqueue($1) AS n', [ids]));
    return row?.n ?? 0;
  }

  /** Whether a claim could do anything: take one up, or say why one waits. */
  async hasWork(): Promise<boolean> {
    const [row] = await this.work.read<{ some: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM repair.work WHERE (state = 'waiting' AND run_after <= now()) OR (state = 'running' AND leased_until < now())) AS some`,
      [],
    );
    return row?.some ?? false;
  }

  async claim(
    tx: Transaction,
    { lease, leaseS, limits }: { lease: string; leaseS: number; limits: readonly ProjectLimit[] },
  ): Promise<ClaimedEpisode | null> {
    const [row] = await tx.query<{ claimed: ClaimRow | null }>('SELECT repair.claim($1, $2, $3) AS claimed', [
      ...[lease, leaseS, JSON.stringify(limits)],
    ]);
    if (row?.claimed == null) return null;
    const { notice_ids: noticeIds, recommended_scope: recommendedScope, cover, ...rest } = row.claimed;
    const known = cover === null ? null : { ...cover, ruleId: cover.rule_id };
    return { ...rest, noticeIds, recommendedScope, cover: known, lease };
  }

  /** False when the lease is over. */
  async renew({ episode, lease }: ClaimedEpisode, leaseS: number): Promise<boolean> {
    const [row] = await this.work.run((tx) =>
      tx.query<{ live: boolean }>('SELECT repair.renew($1, $2, $3) AS live', [episode, lease, leaseS]),
    );
    return row?.live ?? false;
  }

  async readEpisode({ episode, lease }: ClaimedEpisode, withinMs: number): Promise<EpisodeFacts> {
    const [row] = await this.fenced(withinMs, (tx) =>
      tx.query<{ facts: EpisodeFacts }>('SELECT repair.read_episode($1, $2) AS facts', [episode, lease]),
    );
    if (row === undefined) throw new Error(`nothing is stored of the episode ${episode}`);
    return row.facts;
  }

  /** Null for a trace that no pending notice of the episode flags. */
  async readTrace({ episode, lease }: ClaimedEpisode, trace: string, withinMs: number): Promise<TraceFacts | null> {
    const [row] = await this.fenced(withinMs, (tx) =>
      tx.query<{ facts: TraceFacts | null }>('SELECT repair.read_trace($1, $2, $3) AS facts', [episode, lease, trace]),
    );
    return row?.facts ?? null;
  }

  /** Empty when a notice of the run is not pending any more: then nothing is settled. */
  settle(tx: Transaction, { episode, lease, noticeIds }: ClaimedEpisode, report: RunReport): Promise<SettledEpisode[]> {
    return heedingLease(
      tx.query<SettledEpisode>('SELECT * FROM repair.settle($1, $2, $3, $4)', [
        ...[episode, lease, noticeIds, JSON.stringify(report)],
      ]),
    );
  }

  /** `counts`: as a failure of the episode. `blocked`: it waits for an operator. Returns the result with its times. */
  async giveBack(
    tx: Transaction,
    { episode, lease }: ClaimedEpisode,
    { report, counts, afterS, blocked }: { report: RunReport; counts: boolean; afterS: number; blocked: boolean },
  ): Promise<RepairResult> {
    const [row] = await heedingLease(
      tx.query<{ result: RepairResult }>('SELECT repair.give_back($1, $2, $3, $4, $5, $6) AS result', [
        ...[episode, lease, JSON.stringify(report), counts, afterS, blocked],
      ]),
    );
    if (row === undefined) throw new Error(`the episode ${episode} could not be given back`);
    return row.result;
  }

  /** The rule of the episode, whichever run wrote it. Waits for a transaction of the run that may be writing it still. */
  async candidateOf(tx: Transaction, { episode, lease }: ClaimedEpisode): Promise<string | null> {
    await tx.query('SELECT repair.renew($1, $2, $3)', [episode, lease, LAST_LEASE_S]);
    const [row] = await tx.query<{ id: string }>('SELECT id FROM rules.rules WHERE episode = $1 AND edited_from IS NULL', [
      episode,
    ]);
    return row?.id ?? null;
  }

  /** A transaction in which no statement waits longer than `withinMs`. @throws LeaseLost */
  async fenced<T>(withinMs: number, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return heedingLease(
      this.work.run(async (tx) => {
        await tx.query(`SELECT set_config('statement_timeout', $1, true)`, [String(withinMs)]);
        return work(tx);
      }),
    );
  }
}

/** SQLSTATE of the functions for a lease that is over. */
const LEASE_OVER = 'FM001';
/** Of a statement that waited longer than it may. */
const WAITED_TOO_LONG = '57014';

async function heedingLease<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { driverError } = (error ?? {}) as { driverError?: { code?: string } };
    if (driverError?.code === LEASE_OVER) throw new LeaseLost('the lease is over', { cause: error });
    if (driverError?.code === WAITED_TOO_LONG) throw new RunStopped('timed_out');
    throw error;
  }
}
