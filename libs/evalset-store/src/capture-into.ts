import { captureCase, type CaptureResult, type EvalCase, type EvalSet } from '#domain/evalset';
import { derivedId } from '#domain/ids';
import { stringifyJson } from '#ingest';
import type { Transaction } from '#persistence';
import { advanceSet } from './set-version.js';

export interface OfferedCase extends EvalCase {
  /** The session's key. */
  readonly s: string;
  /** The turn that it was captured at; null when that is not known (an import). */
  readonly t: number | null;
  readonly noticeId: string | null;
}

export interface TargetSet {
  readonly project: string;
  /** `eval_case_max`; 0: without limit. */
  readonly max: number;
  /** Who captures by hand, for the journal. */
  readonly who?: string;
}

/** What became of the offered cases, in their order. `version`: null when nothing changed. */
export interface CaptureOutcome {
  readonly version: number | null;
  readonly results: readonly CaptureResult[];
}

/**
 * Takes cases into a project's set one after the other, as `captureCase` decides, and journals what happened. The caller has locked
 * the set (`lockSets`) in the same transaction.
 */
export async function captureInto(tx: Transaction, target: TargetSet, offers: readonly OfferedCase[]): Promise<CaptureOutcome> {
  const before = await presentCases(tx, target, offers);
  let after = before;
  const results = offers.map((offer) => {
    const taken = captureCase(after, offer, target.max);
    after = taken.set;
    return taken.outcome;
  });
  journalRefusals(tx, target, offers, results);
  if (after === before) return { version: null, results };
  const version = await advanceSet(tx, target.project);
  await removeCases(tx, without(before, after));
  await insertCases(tx, target.project, without(after, before), offers);
  journalChanges(tx, { ...target, version }, offers, results);
  return { version, results };
}

const without = (set: EvalSet, other: EvalSet): EvalSet => {
  const gone = new Set(other);
  return set.filter((one) => !gone.has(one));
};

/** Oldest first. Without a limit nothing is evicted, so only the sessions concerned can matter. */
async function presentCases(tx: Transaction, { project, max }: TargetSet, offers: readonly OfferedCase[]): Promise<EvalSet> {
  return tx.query<EvalCase>(
    `SELECT id, session, kind, signatures AS signature, '{}'::jsonb AS baseline, NULL AS "replayInput", '' AS notes
     FROM evalset.cases WHERE project = $1 AND ($2 OR s = ANY($3::uuid[])) ORDER BY created_at, id`,
    [project, max > 0, [...new Set(offers.map(({ s }) => s))]],
  );
}

async function removeCases(tx: Transaction, cases: EvalSet): Promise<void> {
  if (cases.length > 0) await tx.query('DELETE FROM evalset.cases WHERE id = ANY($1::text[])', [cases.map(({ id }) => id)]);
}

/** A microsecond apart, so that their order stays the one in which they came. */
async function insertCases(tx: Transaction, project: string, cases: EvalSet, offers: readonly OfferedCase[]): Promise<void> {
  const offered = new Map(offers.map((one) => [one.id, one]));
  const rows = cases.map(({ replayInput, ...one }, ord) => {
    const { s, noticeId: notice } = offered.get(one.id) ?? { s: null, noticeId: null };
    return { ...one, ord, s, notice, replay_input: replayInput };
  });
  if (rows.length === 0) return;
  await tx.query(
    `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, replay_input, notes, notice_id, created_at)
     SELECT r.id, $2, r.s, r.session, r.kind, ARRAY(SELECT json_array_elements_text(r.signature)), r.baseline, nullif(r.replay_input, 'null'), r.notes, r.notice,
       clock.at + r.ord * interval '1 microsecond'
     FROM json_to_recordset($1::json) AS r(id text, ord int, s uuid, session text, kind text, signature json, baseline jsonb, replay_input jsonb, notes text, notice text)
     CROSS JOIN (SELECT clock_timestamp() AS at OFFSET 0) clock`,
    [stringifyJson(rows), project],
  );
}

function journalChanges(
  tx: Transaction,
  { project, who, version }: TargetSet & { readonly version: number },
  offers: readonly OfferedCase[],
  results: readonly CaptureResult[],
): void {
  for (const [at, { id, s, session, t, kind }] of offers.entries()) {
    const result = results[at];
    if (result?.result !== 'captured') continue;
    const type = 'eval_case_captured';
    tx.journal({ id: derivedId(type, id, version), project, type, s, session, t, doc: { case: id, kind, version, who } });
    for (const gone of result.evicted) journalEviction(tx, project, { gone: gone.id, version, made_room_for: id });
  }
}

function journalEviction(
  tx: Transaction,
  project: string,
  { gone, version, made_room_for }: { gone: string; version: number; made_room_for: string },
): void {
  const type = 'eval_case_evicted';
  tx.journal({ id: derivedId(type, gone, version), project, type, doc: { case: gone, version, made_room_for } });
}

/** Loudly: whoever captures must learn that there is no room. Once per case, however often it is offered. */
function journalRefusals(
  tx: Transaction,
  { project, who }: TargetSet,
  offers: readonly OfferedCase[],
  results: readonly CaptureResult[],
): void {
  for (const [at, { id, s, session, t, noticeId: notice }] of offers.entries()) {
    if (results[at]?.result !== 'refused') continue;
    const doc = { case: id, notice, who, reason: 'wins alone fill eval_case_max: raise it, or remove wins' };
    tx.journal({ id: derivedId('eval_case_refused', id), project, type: 'eval_case_refused', s, session, t, doc });
  }
}
