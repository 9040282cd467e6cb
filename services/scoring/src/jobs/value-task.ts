import { setTimeout as sleep } from 'node:timers/promises';
import type { Score } from '#contracts';
import type { StageMemory } from '#judges';
import { InfrastructureError } from '#messaging';
import { boundedReason } from '../bounded-score.js';
import type { Ending } from '../job-ending.js';
import type { ClaimedJob } from '../postgres/job-claims.js';
import type { Evaluated, JobResult } from '../postgres/job-results.js';
import type { JobStore, LoadedJob, Wanted } from '../postgres/job-store.js';
import type { Spending, Spent } from '../postgres/usage-rows.js';
import type { LaneTask, Slot } from './lane-worker.js';
import { StageRecorder } from './stage-recorder.js';
import { TimeOuts } from './time-outs.js';
import { backoffMs, Trouble, worst } from './trouble.js';

/** What an evaluator says of one trace. */
export interface Verdict {
  readonly outcome: Pick<Score, 'status' | 'value' | 'reason' | 'code'> & { readonly spans: readonly string[] };
  /** The evaluator as it was when it answered. */
  readonly evaluator: string;
  readonly promptHash: string | null;
  readonly spent: Spent | null;
  /** Whether the provider was asked for it: some outcomes can be seen without. */
  readonly asked: boolean;
}

/** Makes one value, or throws Trouble. */
export interface ValueEvaluator {
  evaluate(job: LoadedJob, wanted: Wanted, tools: { stages: StageMemory; signal: AbortSignal }): Promise<Verdict>;
}

/** After so many failures of its own kind, an evaluator will not do better. */
const FAILURES_MAX = 5;
/** After so many refusals, between which the provider has answered others, it is this question that it cannot take. */
const REFUSALS_MAX = 3;
const SAVE_PAUSE_MS = 1_000;

type Attempt = {
  readonly evaluated?: Evaluated;
  readonly spending?: Spending;
  readonly ending: Ending;
  readonly answered?: boolean;
};

/** The values of a job, made side by side as far as there is room, and recorded together. */
export class ValueTask implements LaneTask {
  private readonly timeOuts = new TimeOuts();

  constructor(
    private readonly store: Pick<JobStore, 'save'>,
    private readonly evaluator: ValueEvaluator,
    /** Told what is wrong with the job's provider, or null when it has answered. */
    private readonly onHealth: (job: ClaimedJob, detail: string | null) => void,
    /** Whether another value may be paid for, when the claim has spent so many US dollars: one may cost more than was reserved for it. */
    private readonly maySpend: (project: string, spentUsd: number) => Promise<boolean> = () => Promise.resolve(true),
  ) {}

  async run(job: LoadedJob, slot: Slot, signal: AbortSignal): Promise<void> {
    const stages = new StageRecorder(job.stages);
    let stopped: Ending | null = null;
    let spentUsd = 0;
    const attempts = await Promise.all(
      job.wanted.map((wanted) =>
        slot(async (): Promise<Attempt> => {
          // Once the provider is in trouble, the rest of the job need not find out again.
          if (stopped !== null || signal.aborted) return { ending: stopped ?? { kind: 'returned' } };
          if (!(await this.mayPay(job.job, spentUsd))) return { ending: (stopped = { kind: 'returned' }) };
          const made = await this.attempt(job, wanted, { stages: stages.of(wanted.trace), signal });
          const attempt = { ...made, ending: this.timeOuts.heed(job.job, made.ending, made.answered === true) };
          spentUsd += attempt.spending?.costUsd ?? 0;
          if (attempt.ending.kind === 'rest' || attempt.ending.kind === 'blocked') stopped = attempt.ending;
          return attempt;
        }),
      ),
    );
    const ending = worst(attempts.map((one) => one.ending));
    const answered = attempts.some((one) => one.answered === true);
    await this.save(
      {
        ...{ job: job.job, ending, answered },
        stages: stages.made,
        evaluated: attempts.flatMap(({ evaluated }) => (evaluated === undefined ? [] : [evaluated])),
        spendings: attempts.flatMap(({ spending }) => (spending === undefined ? [] : [spending])),
      },
      signal,
    );
    // When it is stored: whoever looks at the stored trouble takes back what was said of one that is not there.
    this.tellHealth(job.job, ending, answered);
  }

  private async mayPay({ project }: ClaimedJob, spentUsd: number): Promise<boolean> {
    try {
      return await this.maySpend(project, spentUsd);
    } catch (error) {
      if (error instanceof InfrastructureError) return false;
      throw error;
    }
  }

  private async attempt(job: LoadedJob, wanted: Wanted, tools: { stages: StageMemory; signal: AbortSignal }): Promise<Attempt> {
    try {
      const { outcome, evaluator, promptHash, spent, asked } = await this.evaluator.evaluate(job, wanted, tools);
      const { metric, trace, source } = wanted;
      const score = { metric, trace_id: trace === '' ? null : trace, source, evaluator, ...outcome, spans: [...outcome.spans] };
      const evaluated = { score, askedAs: wanted.evaluator, promptHash, spent };
      return {
        evaluated,
        ...(spent === null ? {} : { spending: { metric, ...spent } }),
        ending: { kind: 'done' },
        answered: asked,
      };
    } catch (error) {
      return this.failure(job, wanted, error);
    }
  }

  private failure({ job }: LoadedJob, wanted: Wanted, error: unknown): Attempt {
    if (error instanceof Trouble) {
      const spending = error.spent === null ? {} : { spending: { metric: wanted.metric, ...error.spent } };
      const refused = isOfQuestion(error.ending) && job.refusals + 1 >= REFUSALS_MAX;
      return { ...(refused ? givenUp(wanted, 'refused', error.message) : { ending: error.ending }), ...spending };
    }
    if (error instanceof InfrastructureError) return { ending: { kind: 'returned' } };
    const reason = `The evaluator failed: ${error instanceof Error ? error.message : String(error)}`;
    if (job.attempts + 1 < FAILURES_MAX) return { ending: { kind: 'failed', error: reason, delayMs: backoffMs(job.attempts) } };
    return givenUp(wanted, 'evaluator_failed', reason);
  }

  private tellHealth(job: ClaimedJob, ending: Ending, answered: boolean): void {
    if (ending.kind === 'rest' && ending.code === 'unavailable') this.onHealth(job, boundedReason(ending.error));
    else if (answered) this.onHealth(job, null);
  }

  /** What was paid for is not thrown away because the database is away for a moment. */
  private async save(result: JobResult, signal: AbortSignal): Promise<void> {
    for (let again = false; ; again = true) {
      try {
        await this.store.save({ ...result, again });
        return;
      } catch (error) {
        if (!(error instanceof InfrastructureError) || signal.aborted) throw error;
        await sleep(SAVE_PAUSE_MS);
      }
    }
  }
}

function isOfQuestion(ending: Ending): boolean {
  return (ending.kind === 'rest' || ending.kind === 'blocked') && ending.ofQuestion === true;
}

/** A value that will not come: failed for good. */
function givenUp({ metric, trace, source, evaluator }: Wanted, code: string, reason: string): Attempt {
  const common = { metric, trace_id: trace === '' ? null : trace, source, evaluator, spans: [] };
  const score: Score = { ...common, status: 'failed', value: null, code, reason };
  return { evaluated: { score, askedAs: evaluator, promptHash: null, spent: null }, ending: { kind: 'done' } };
}
