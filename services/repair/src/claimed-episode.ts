import type { Cover } from '#domain/repair';

/** An episode that this process repairs, under its lease. */
export interface ClaimedEpisode {
  readonly episode: string;
  readonly project: string;
  readonly s: string;
  readonly session: string;
  readonly t: number;
  readonly incident: string;
  /** Those that were pending, in order of id. */
  readonly noticeIds: readonly string[];
  readonly recommendedScope: string | null;
  /** Counted per episode, from 1. */
  readonly run: number;
  /** Runs of it that failed so far. */
  readonly failures: number;
  /** The run before died without an end. */
  readonly crashed: boolean;
  readonly candidate: string | null;
  readonly cover: Cover | null;
  readonly lease: string;
}
