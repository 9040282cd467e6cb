import { Injectable } from '@nestjs/common';
import type { ProjectSettings } from '#contracts';
import { backoffS, isGivenUp } from '#domain/repair';
import { UnitOfWork, type Transaction } from '#persistence';
import { announceEnd, announceSettled } from '../announcements.js';
import type { ClaimedEpisode } from '../claimed-episode.js';
import { WorkStore } from '../postgres/work-store.js';
import { runReport, type RunDeeds, type RunEnd } from './run-end.js';

type Unresolved = Extract<RunEnd, { kind: 'unresolved' }>;

/** A notice was corrected while the run worked on it: what is left of the episode is looked at anew. */
const OVERTAKEN: Unresolved = { kind: 'unresolved', status: 'cancelled', category: 'notices_changed', retryAfterS: null };

/** Records the end of a run, in one transaction with everything that follows from it. */
@Injectable()
export class RunEndings {
  constructor(
    private readonly work: UnitOfWork,
    private readonly store: WorkStore,
  ) {}

  /** Returns the end that was recorded. @throws LeaseLost */
  end(episode: ClaimedEpisode, deeds: RunDeeds, { end, settings }: { end: RunEnd; settings: ProjectSettings }): Promise<RunEnd> {
    return this.work.run(async (tx) => {
      if (end.kind === 'resolved' && (await this.settle(tx, episode, deeds, end))) return end;
      const unresolved = end.kind === 'resolved' ? OVERTAKEN : end;
      await this.giveBack(tx, episode, deeds, { end: unresolved, settings });
      return unresolved;
    });
  }

  private async settle(tx: Transaction, episode: ClaimedEpisode, deeds: RunDeeds, end: RunEnd): Promise<boolean> {
    const settled = await this.store.settle(tx, episode, runReport(episode, deeds, end));
    const own = settled.find(({ result }) => result !== null)?.result ?? null;
    if (own === null) return false;
    announceSettled(tx, episode, settled, own);
    return true;
  }

  private async giveBack(
    tx: Transaction,
    episode: ClaimedEpisode,
    deeds: RunDeeds,
    { end, settings }: { end: Unresolved; settings: ProjectSettings },
  ): Promise<void> {
    const counts = end.status !== 'cancelled';
    const failures = episode.failures + (counts ? 1 : 0);
    const blocked = counts && isGivenUp(failures, settings.repair_attempts);
    const afterS = counts && !blocked ? backoffS(failures, end.retryAfterS) : 0;
    // The run may have been stopped while its rule was being stored.
    const candidate = await this.store.candidateOf(tx, episode);
    const report = runReport(episode, { ...deeds, conversation: { ...deeds.conversation, candidate } }, end);
    const result = await this.store.giveBack(tx, episode, { report, counts, afterS, blocked });
    announceEnd(tx, episode, result, { failures, again_after_s: blocked ? null : afterS, waits_for_operator: blocked });
  }
}
