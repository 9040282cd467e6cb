import { Injectable } from '@nestjs/common';
import type { Report } from '#contracts';
import { baselineOf, evalCaseId, replayInputOf } from '#domain/evalset';
import { captureInto, lockSets, type OfferedCase } from '#evalset-store';
import type { Transaction } from '#persistence';
import type { NoticeRow } from './notice-store.js';

export interface Capture {
  readonly notice: NoticeRow;
  readonly report: Omit<Report, 'revision'>;
  /** At most this many cases per project; 0: unlimited. */
  readonly max: number;
}

/** Failure cases, written in the transaction of their notice (BEHAVIOUR 10). The project's breaker row is locked by the caller. */
@Injectable()
export class EvalCaseStore {
  async capture(tx: Transaction, captures: readonly Capture[]): Promise<void> {
    if (captures.length === 0) return;
    const endStates = await this.endStates(tx, captures);
    const limits = new Map(captures.map(({ notice, max }) => [notice.project, max]));
    const projects = [...limits.keys()].sort();
    await lockSets(tx, projects);
    for (const project of projects) {
      const own = captures.filter(({ notice }) => notice.project === project);
      await captureInto(
        tx,
        { project, max: limits.get(project) ?? 0 },
        own.map((one) => offered(one, endStates.get(placeOf(one.notice)))),
      );
    }
  }

  private async endStates(tx: Transaction, captures: readonly Capture[]): Promise<Map<string, unknown>> {
    const rows = await tx.query<{ s: string; t: number; end_state: unknown }>(
      'SELECT s, t, end_state FROM scoring.turns JOIN json_to_recordset($1::json) AS k(s uuid, t bigint) USING (s, t) WHERE end_state IS NOT NULL',
      [JSON.stringify(captures.map(({ notice: { s, t } }) => ({ s, t })))],
    );
    return new Map(rows.map((row) => [placeOf(row), row.end_state]));
  }
}

const placeOf = ({ s, t }: { readonly s: string; readonly t: number }): string => `${s}|${t}`;

function offered({ notice, report }: Capture, endState: unknown): OfferedCase {
  const { s, t, session, signatures, summary: notes, id: noticeId } = notice;
  const id = evalCaseId(s, 'failure', signatures);
  const baseline = baselineOf(report.scores);
  return {
    ...{ id, s, t, session, kind: 'failure', signature: signatures, baseline, notes, noticeId },
    replayInput: replayInputOf(endState),
  };
}
