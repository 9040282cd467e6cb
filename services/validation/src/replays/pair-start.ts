import { Injectable } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import type { ProjectSettings } from '#contracts';
import { caseOfPair } from '#domain/evidence';
import { SettingsDirectory, UnitOfWork } from '#persistence';
import { CaseStore, type TrialCases } from '../postgres/case-store.js';
import { PairStore, type ReplayableTrial } from '../postgres/pair-store.js';
import { caseGone, endPair } from './end-pair.js';
import { ReplayDesk } from './replay-desk.js';
import { Workers } from './workers.js';

export type Arm = 'with' | 'without';

/** Begins the next pair of a candidate, when a worker has nothing to do. */
@Injectable()
export class PairStart {
  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
    private readonly pairs: PairStore,
    private readonly cases: CaseStore,
    private readonly replays: ReplayDesk,
    private readonly workers: Workers,
  ) {}

  async begin(trial: ReplayableTrial): Promise<void> {
    const settings = await this.settings.of(trial.project);
    const { replay_pairs_max: most, observe_only: paused } = settings;
    if (paused || trial.running !== null || trial.pairs >= most) return;
    const cases = trial.cases ?? (await this.choose(trial, settings));
    if (cases !== null) await this.open(trial, cases);
  }

  private async open(trial: ReplayableTrial, cases: TrialCases): Promise<void> {
    const number = trial.pairs + 1;
    const chosen = caseOfPair(number, cases);
    if (chosen === null || !(await this.workers.areIdle(trial.project))) return;
    const { rule, project } = trial;
    const pair = { pair: `${rule}/${number}`, rule, project, case_id: chosen.id, case_kind: chosen.kind };
    const first: Arm = randomInt(2) === 0 ? 'with' : 'without';
    await this.work.run(async (tx) => {
      if (!(await this.pairs.open(tx, { ...pair, number, first }))) return;
      const asked = await this.replays.request(tx, { ...pair, arm: first, regression: null });
      if (asked === null) await endPair(tx, this.pairs, pair, caseGone);
    });
  }

  /** Chosen once for a trial; null while no failure matches the rule. */
  private async choose(trial: ReplayableTrial, settings: ProjectSettings): Promise<TrialCases | null> {
    const metrics = settings.tier1_metrics.length + settings.tier2_metrics.length + 1;
    const cases = await this.cases.casesOf(this.work.read.bind(this.work), trial, metrics);
    const found = cases.failures.length > 0 ? cases : null;
    await this.work.run((tx) => this.pairs.saveCases(tx, trial.rule, found));
    return found;
  }
}
