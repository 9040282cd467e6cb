import { OUTCOME_METRIC, verifyAnswer, type VerifyRequest } from '#contracts';
import type { LoadedJob } from '../postgres/job-store.js';
import type { VerifierStore } from '../postgres/verifier-store.js';
import type { Verifiers } from '../verifiers.js';
import type { LaneTask, Slot } from './lane-worker.js';
import { backoffMs, Trouble } from './trouble.js';
import type { Ending } from '../job-ending.js';

/** Asks the project's verifier; null: nobody answers. Throws Trouble. */
export type AskVerifier = (project: string, request: VerifyRequest) => Promise<{ readonly value: unknown } | null>;

/** Asks the user's verifier about a turn. What it says is a posted score like one that came by itself: the first word stays. */
export class VerifyTask implements LaneTask {
  constructor(
    private readonly store: VerifierStore,
    private readonly verifiers: Verifiers,
    private readonly askVerifier: AskVerifier,
  ) {}

  async run(loaded: LoadedJob, slot: Slot, signal: AbortSignal): Promise<void> {
    await slot(async () => {
      const ending = signal.aborted ? ({ kind: 'returned' } as const) : await this.verify(loaded);
      if (ending !== null) await this.store.end(loaded.job, ending);
    });
  }

  /** Null: recorded. Otherwise what becomes of the job. */
  private async verify({ job, session, turn }: LoadedJob): Promise<Ending | null> {
    const { project, attempts, s, t } = job;
    try {
      const request = { session_id: session, turn_index: turn.turn_index, end_state: turn.end_state ?? null };
      const answer = await this.askVerifier(project, request);
      if (answer === null) return this.nobody(project, attempts);
      this.verifiers.answered(project);
      const parsed = verifyAnswer.safeParse(answer.value);
      if (!parsed.success)
        return {
          kind: 'failed',
          error: `the verifier answered ${shown(answer.value)}, which is no verdict`,
          delayMs: backoffMs(attempts),
        };
      if ('error' in parsed.data)
        return { kind: 'failed', error: `the verifier failed: ${parsed.data.error}`, delayMs: backoffMs(attempts) };
      await this.store.record(job, { s, t, project, session, trace: '', metric: OUTCOME_METRIC, ...parsed.data });
      return null;
    } catch (error) {
      if (error instanceof Trouble) return error.ending;
      throw error;
    }
  }

  /** A verifier that has answered before is away and will be back; where there never was one, nobody is missed. */
  private nobody(project: string, attempts: number): Ending {
    if (!this.verifiers.isKnown(project)) return { kind: 'dropped' };
    return { kind: 'failed', error: 'no verifier is connected', delayMs: backoffMs(attempts) };
  }
}

function shown(answer: unknown): string {
  return JSON.stringify(answer).slice(0, 200);
}
