import type { Read } from '#rule-store';
import { Injectable } from '@nestjs/common';
import { chooseCases, targetMetrics, targetSignatures, type CaseKind, type ChosenCases } from '#domain/evidence';

export interface CaseRow {
  readonly id: string;
  readonly kind: CaseKind;
  readonly signature: readonly string[];
  readonly baseline: Readonly<Record<string, number>>;
  readonly replayable: boolean;
}

/** What the replays of a trial are made of; kept with the trial. */
export interface TrialCases extends ChosenCases {
  /** The first that both runs of a pair have is compared. */
  readonly targets: readonly string[];
  /** How many metrics a run is scored on: wins share their error over them. */
  readonly metrics: number;
}

/** Newest cases that are looked at for one candidate: more than are ever chosen. */
const LOOKED_AT = 1_000;

@Injectable()
export class CaseStore {
  /** The cases of a rule, newest first, as they are now; no failure when none matches. */
  async casesOf(
    read: Read,
    rule: { readonly project: string; readonly metric: string | null; readonly tags: readonly string[] },
    metrics: number,
  ): Promise<TrialCases> {
    const rows = await read<CaseRow>(
      `SELECT id, kind, signatures AS signature, baseline, replay_input IS NOT NULL AS replayable FROM evalset.cases WHERE project = $1 ORDER BY created_at DESC, id DESC LIMIT ${LOOKED_AT}`,
      [rule.project],
    );
    const chosen = chooseCases(rows, targetSignatures(rule));
    const failures = chosen.filter(({ kind }) => kind === 'failure');
    return {
      failures: failures.map(({ id }) => id),
      wins: chosen.filter(({ kind }) => kind === 'win').map(({ id }) => id),
      targets: targetMetrics(rule, failures[0]),
      metrics,
    };
  }

  /** What a worker is given; undefined when the case is gone or has nothing to replay. `body`: the captured turn, while it is kept. */
  async inputOf(read: Read, id: string): Promise<{ input: unknown; body: Buffer | null } | undefined> {
    const [row] = await read<{ input: unknown; body: Buffer | null }>(
      `SELECT c.replay_input AS input, b.body FROM evalset.cases c LEFT JOIN mailbox.notices n ON n.id = c.notice_id
       LEFT JOIN scoring.turn_bodies b ON b.s = n.s AND b.t = n.t WHERE c.id = $1 AND c.replay_input IS NOT NULL`,
      [id],
    );
    return row;
  }
}
