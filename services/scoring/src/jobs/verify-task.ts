import { OUTCOME_METRIC, verifyAnswer, type VerifyRequest } from '#contracts';
import { replayOfSession } from '#domain/ids';
import { QuestionTooLarge } from '../nats/requests.js';
import type { LoadedJob } from '../postgres/job-store.js';
import type { VerifierStore } from '../postgres/verifier-store.js';
import type { Verifiers } from '../verifiers.js';
import type { LaneTask, Slot } from './lane-worker.js';
import { TimeOuts } from './time-outs.js';
import { backoffMs, Trouble } from './trouble.js';
import type { Ending } from '../job-ending.js';

/** Asks the project's verifier; null: nobody answers. Throws Trouble. */
export type AskVerifier = (
  project: string,
  request: VerifyRequest,
  signal: AbortSignal,
) => Promise<{ readonly value: unknown } | null>;

/** Between two looks whether a verifier that was there is back; one turn's job looks for all. */
const AWAY_MS = 5_000;

/** Asks the user's verifier about a turn. What it says is a posted score like one that came by itself: the first word stays. */
export class VerifyTask implements LaneTask {
  private readonly timeOuts = new TimeOuts();

  constructor(
    private readonly store: VerifierStore,
    private readonly verifiers: Verifiers,
    private readonly askVerifier: AskVerifier,
  ) {}

  async run(loaded: LoadedJob, slot: Slot, signal: AbortSignal): Promise<void> {
    await slot(async () => {
      const said = signal.aborted ? unasked({ kind: 'returned' }) : await this.verify(loaded, signal);
      if (said !== null) await this.store.end(loaded.job, said.ending, said.answered);
    });
  }

  /** Null: recorded, or given up. Otherwise what becomes of the job. */
  private async verify({ job, session, turn }: LoadedJob, signal: AbortSignal): Promise<Unverified | null> {
    const { project, attempts, s, t } = job;
    try {
      const request = {
        session_id: session,
        turn_index: turn.turn_index,
        end_state: turn.end_state ?? null,
        ...replayOf(session),
      };
      const answer = await this.askVerifier(project, request, signal);
      if (answer === null) return unasked(this.nobody(project));
      this.verifiers.answered(project);
      this.timeOuts.heed(job, { kind: 'done' }, true);
      const parsed = verifyAnswer.safeParse(answer.value);
      const verdict = parsed.success ? parsed.data : { error: `${shown(answer.value)} is no verdict` };
      if ('error' in verdict) {
        const error = `the verifier failed: ${verdict.error}`;
        return { ending: { kind: 'failed', error, delayMs: backoffMs(attempts) }, answered: true };
      }
      await this.store.record(job, { s, t, project, session, trace: '', metric: OUTCOME_METRIC, ...verdict });
      return null;
    } catch (error) {
      if (error instanceof Trouble) return unasked(this.timeOuts.heed(job, error.ending, false));
      if (!(error instanceof QuestionTooLarge)) throw error;
      await this.store.giveUp(job, 'too_large', error.message);
      return null;
    }
  }

  /** A verifier that has answered before is away and will be back; where there never was one, nobody is missed. */
  private nobody(project: string): Ending {
    if (!this.verifiers.isKnown(project)) return { kind: 'dropped' };
    return { kind: 'rest', code: 'unavailable', error: 'no verifier is connected', delayMs: AWAY_MS };
  }
}

interface Unverified {
  readonly ending: Ending;
  readonly answered: boolean;
}

function unasked(ending: Ending): Unverified {
  return { ending, answered: false };
}

/** A verifier may want to know that a run is a replay, and of which case. */
function replayOf(session: string): { replay_id?: string } {
  const replay = replayOfSession(session);
  return replay === null ? {} : { replay_id: replay };
}

function shown(answer: unknown): string {
  return JSON.stringify(answer).slice(0, 200);
}
