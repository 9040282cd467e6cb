import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '#persistence';
import type { Ending } from '../job-ending.js';
import type { ClaimedJob } from './job-claims.js';
import { giveUpJob } from './job-expiry.js';
import { saveJobResult } from './job-results.js';
import { ScoreStore, type PostedScore } from './score-store.js';

/** How long a verifier is known after it has answered last. */
const KNOWN_DAYS = 7;

const NOTHING = { evaluated: [], spendings: [], stages: [] } as const;

@Injectable()
export class VerifierStore {
  constructor(
    private readonly work: UnitOfWork,
    private readonly scores: ScoreStore,
  ) {}

  /** Projects whose verifier has answered in the last days. */
  async known(): Promise<string[]> {
    const rows = await this.work.read<{ project: string }>(
      `SELECT project FROM scoring.verifiers WHERE answered_at > now() - interval '${KNOWN_DAYS} days'`,
      [],
    );
    return rows.map(({ project }) => project);
  }

  /** The verdict and the end of its job, in one transaction. */
  async record(job: ClaimedJob, verdict: PostedScore): Promise<void> {
    await this.work.run(async (tx) => {
      await this.scores.post(tx, [verdict]);
      // Once a minute is enough to be known; every verdict would make it the busiest row of the table.
      await tx.query(
        `INSERT INTO scoring.verifiers AS v (project, answered_at) VALUES ($1, now())
         ON CONFLICT (project) DO UPDATE SET answered_at = now() WHERE v.answered_at < now() - interval '1 minute'`,
        [job.project],
      );
      await saveJobResult(tx, { ...NOTHING, job, ending: { kind: 'done' }, answered: true });
    });
  }

  /** No verdict. `answered`: the verifier is there all the same. */
  async end(job: ClaimedJob, ending: Ending, answered: boolean): Promise<void> {
    await this.work.run((tx) => saveJobResult(tx, { ...NOTHING, job, ending, answered }));
  }

  /** No verdict, ever. */
  async giveUp(job: ClaimedJob, code: string, error: string): Promise<void> {
    await this.work.run((tx) => giveUpJob(tx, job, { code, error }));
  }
}
