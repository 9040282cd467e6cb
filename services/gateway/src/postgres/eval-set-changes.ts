import type { Report } from '#contracts';
import { baselineOf, evalCaseId, replayInputOf, type CaptureResult, type CaseKind } from '#domain/evalset';
import { derivedId, sessionKey } from '#domain/ids';
import { advanceSet, captureInto, lockSets, type CaptureOutcome, type OfferedCase } from '#evalset-store';
import { stringifyJson } from '#ingest';
import type { SettingsDirectory, Transaction, UnitOfWork } from '#persistence';

/** In whose set, and who asks. */
export interface SetOf {
  readonly project: string;
  readonly who: string;
}

/** A case to be kept, its text already fit to be stored. */
export interface KeptCase {
  readonly session: string;
  readonly kind: CaseKind;
  readonly signature: readonly string[];
  readonly baseline: Readonly<Record<string, number>>;
  readonly replayInput: unknown;
  readonly notes: string;
}

/** A turn to be kept; what is undefined comes from the turn. */
export interface KeptTurn {
  readonly session: string;
  readonly turn: number;
  readonly kind: CaseKind;
  readonly signature: readonly string[] | undefined;
  readonly replayInput: unknown;
  readonly notes: string;
}

interface ReportRow {
  readonly report: Report;
  readonly end_state: unknown;
}

/** Changes of a project's eval set by operators, each under the lock of the set. */
export class EvalSetChanges {
  constructor(
    private readonly work: UnitOfWork,
    private readonly settings: SettingsDirectory,
  ) {}

  /** Undefined when the turn has no report. */
  async captureTurn(
    { project, who }: SetOf,
    { session, turn: t, kind, signature, replayInput, notes }: KeptTurn,
  ): Promise<CaptureResult | undefined> {
    const s = sessionKey(project, session);
    const max = await this.limit(project);
    return this.work.run(async (tx) => {
      const row = await reportOf(tx, s, t);
      if (row === undefined) return undefined;
      const kept = {
        ...{ session, kind, notes, signature: signature ?? row.report.signatures, baseline: baselineOf(row.report.scores) },
        replayInput: replayInput === undefined ? replayInputOf(row.end_state) : replayInput,
      };
      await lockSets(tx, [project]);
      const { results } = await captureInto(tx, { project, max, who }, [offered(project, kept, t)]);
      return results[0];
    });
  }

  async captureAll({ project, who }: SetOf, cases: readonly KeptCase[]): Promise<CaptureOutcome> {
    const max = await this.limit(project);
    return this.work.run(async (tx) => {
      await lockSets(tx, [project]);
      return captureInto(
        tx,
        { project, max, who },
        cases.map((one) => offered(project, one, null)),
      );
    });
  }

  /** False when there is no such case. */
  async attach({ project, who }: SetOf, id: string, input: unknown, notes: string | undefined): Promise<boolean> {
    return this.work.run(async (tx) => {
      await lockSets(tx, [project]);
      const changed = await tx.query(
        `UPDATE evalset.cases SET replay_input = $3::jsonb, notes = coalesce($4, notes) WHERE project = $1 AND id = $2 RETURNING id`,
        [project, id, stringifyJson(input), notes ?? null],
      );
      if (changed.length > 0) await journalChange(tx, 'eval_case_input_attached', { project, who, id });
      return changed.length > 0;
    });
  }

  /** The version without it; undefined when there is no such case. */
  async remove({ project, who }: SetOf, id: string): Promise<number | undefined> {
    return this.work.run(async (tx) => {
      await lockSets(tx, [project]);
      const gone = await tx.query('DELETE FROM evalset.cases WHERE project = $1 AND id = $2 RETURNING id', [project, id]);
      return gone.length === 0 ? undefined : journalChange(tx, 'eval_case_removed', { project, who, id });
    });
  }

  private async limit(project: string): Promise<number> {
    return (await this.settings.of(project)).eval_case_max;
  }
}

async function reportOf(tx: Transaction, s: string, t: number): Promise<ReportRow | undefined> {
  const rows = await tx.query<ReportRow>(
    `SELECT e.report, t.end_state FROM gating.turn_evals e LEFT JOIN scoring.turns t USING (s, t)
     WHERE e.s = $1 AND e.t = $2 AND e.report IS NOT NULL`,
    [s, t],
  );
  return rows[0];
}

function offered(project: string, kept: KeptCase, t: number | null): OfferedCase {
  const s = sessionKey(project, kept.session);
  return { ...kept, s, t, id: evalCaseId(s, kept.kind, kept.signature), noticeId: null };
}

async function journalChange(
  tx: Transaction,
  type: string,
  { project, who, id }: { project: string; who: string; id: string },
): Promise<number> {
  const version = await advanceSet(tx, project);
  tx.journal({ id: derivedId(type, id, version), project, type, doc: { case: id, version, who } });
  return version;
}
