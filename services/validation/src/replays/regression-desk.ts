import { Injectable } from '@nestjs/common';
import { regressionStatus } from '#domain/evidence';
import { derivedId } from '#domain/ids';
import { UnitOfWork, type Transaction } from '#persistence';
import { RegressionStore, type OpenCase, type RunCase } from '../postgres/regression-store.js';
import { ReplayDesk } from './replay-desk.js';
import { Workers } from './workers.js';

/** Regression runs: every case again, wins first, against the rules as they are (BEHAVIOUR 11). */
@Injectable()
export class RegressionDesk {
  constructor(
    private readonly work: UnitOfWork,
    private readonly runs: RegressionStore,
    private readonly replays: ReplayDesk,
    private readonly workers: Workers,
  ) {}

  async look(): Promise<void> {
    const read = this.work.read.bind(this.work);
    const ended = await this.runs.ended(read);
    if (ended.length > 0) await this.work.run((tx) => this.runs.save(tx, ended.map(judged)));
    const asked = new Set<string>();
    for (const next of await this.runs.next(read)) {
      if (asked.has(next.project) || !(await this.workers.areIdle(next.project))) continue;
      asked.add(next.project);
      await this.work.run((tx) => this.ask(tx, next));
    }
    const done = await this.runs.complete(read);
    for (const run of done) await this.work.run((tx) => this.close(tx, run));
  }

  private async ask(tx: Transaction, next: OpenCase): Promise<void> {
    if (!(await this.runs.lock(tx, next))) return;
    const { project, run, case_id } = next;
    const replay = await this.replays.request(tx, { project, case_id, arm: 'current', rule: null, pair: null, regression: run });
    if (replay === null) await this.runs.save(tx, [{ ...next, status: 'skipped', reason: 'no_replay_input', deltas: {} }]);
    else await this.runs.give(tx, next, replay);
  }

  private async close(tx: Transaction, { run, project }: { readonly run: string; readonly project: string }): Promise<void> {
    if (!(await this.runs.close(tx, run))) return;
    const counts = await this.runs.counts(tx, run);
    tx.journal({ id: derivedId('regression_run', run), project, type: 'regression_run', doc: { run, ...counts } });
  }
}

/** A case whose run was not scored, or shares no metric with its capture, is told apart: skipped with the reason, or unchanged. */
function judged({ state, reason, scores, baseline, margins, ...key }: RunCase) {
  if (state !== 'scored' || scores === null)
    return { ...key, status: 'skipped', reason: reason ?? 'replay_inconclusive', deltas: {} };
  const deltas = deltasOf(scores, baseline);
  return { ...key, status: regressionStatus(deltas, margins), reason: null, deltas };
}

function deltasOf(scores: Readonly<Record<string, number>>, baseline: Readonly<Record<string, number>>): Record<string, number> {
  const shared = Object.entries(scores).filter(([metric]) => Object.hasOwn(baseline, metric));
  return Object.fromEntries(shared.map(([metric, value]) => [metric, value - (baseline[metric] ?? 0)]));
}
