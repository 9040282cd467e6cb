import { Injectable } from '@nestjs/common';
import { judgePair, type RunEnd } from '#domain/evidence';
import { UnitOfWork, type Transaction } from '#persistence';
import { PairStore, runEnd, type ArmRow, type PairRow } from '../postgres/pair-store.js';
import { TrialDesk } from '../trials/trial-desk.js';
import { caseGone, endPair } from './end-pair.js';
import { PairStart, type Arm } from './pair-start.js';
import { ReplayDesk } from './replay-desk.js';

const other = (arm: Arm): Arm => (arm === 'with' ? 'without' : 'with');

/** Pairs of replays for candidates on trial: one run without and one with the rule, the order drawn at random. */
@Injectable()
export class PairDesk {
  constructor(
    private readonly work: UnitOfWork,
    private readonly pairs: PairStore,
    private readonly start: PairStart,
    private readonly replays: ReplayDesk,
    private readonly trials: TrialDesk,
  ) {}

  async look(): Promise<void> {
    const read = this.work.read.bind(this.work);
    for (const pair of await this.pairs.running(read)) await this.work.run((tx) => this.moveOn(tx, pair));
    for (const trial of await this.pairs.trials(read)) await this.start.begin(trial);
  }

  /** The second run of a pair, or its end. */
  private async moveOn(tx: Transaction, pair: PairRow): Promise<void> {
    if (!(await this.pairs.lock(tx, pair.pair))) return;
    const ends = endsOf(await this.pairs.arms(tx, pair.pair));
    const first = ends?.get(pair.first);
    if (ends === null || first === undefined) return;
    const second = ends.get(other(pair.first));
    // What can count no more is not run to its end.
    if (second === undefined && first.scores !== null && first.surfaced) return this.runSecond(tx, pair);
    const runs = { [pair.first]: first, [other(pair.first)]: second ?? first } as Record<Arm, RunEnd>;
    const end = judgePair({ kind: pair.case_kind, id: pair.case_id }, runs, pair.cases.targets);
    await endPair(tx, this.pairs, pair, end);
    if (end.counted) await this.trials.countPair(tx, pair.rule, pair.pair, end.observation);
  }

  private async runSecond(tx: Transaction, pair: PairRow): Promise<void> {
    const asked = await this.replays.request(tx, { ...pair, arm: other(pair.first), regression: null });
    if (asked === null) await endPair(tx, this.pairs, pair, caseGone);
  }
}

/** How the runs so far ended; null while one of them is under way. */
function endsOf(arms: readonly ArmRow[]): Map<Arm, RunEnd> | null {
  const ends = new Map<Arm, RunEnd>();
  for (const arm of arms) {
    const end = runEnd(arm);
    if (end === null) return null;
    ends.set(arm.arm, end);
  }
  return ends;
}
