import { episodeSettled, noticeResolved, type RepairResult } from '#contracts';
import { derivedId, sessionToken } from '#domain/ids';
import type { Transaction } from '#persistence';
import type { ClaimedEpisode } from './claimed-episode.js';
import type { SettledEpisode } from './postgres/work-store.js';

/** One end per run in the journal. */
const END_TYPES: Readonly<Record<RepairResult['status'], string>> = {
  candidate_added: 'repair_completed',
  duplicate: 'repair_duplicate',
  already_covered: 'repair_already_covered',
  no_proposal: 'repair_no_proposal',
  unactionable: 'repair_unactionable',
  timed_out: 'repair_timed_out',
  failed: 'repair_failed',
  cancelled: 'repair_cancelled',
};

/** Tells of a run that was begun; and, where the one before it died, of that one's end. */
export function announceStart(tx: Transaction, episode: ClaimedEpisode): void {
  const { run, incident, candidate, recommendedScope: recommended_scope } = episode;
  if (episode.crashed) journal(tx, episode, { type: 'repair_failed', run: run - 1, doc: { error_category: 'crashed' } });
  journal(tx, episode, { type: 'repair_started', run, doc: { incident, candidate, recommended_scope } });
}

/** Tells how a run ended. `next`: what becomes of an episode that was not resolved. */
export function announceEnd(tx: Transaction, episode: ClaimedEpisode, result: RepairResult, next: object = {}): void {
  const { status, run, candidate_rule_id: candidate, existing_rule_id: existing } = result;
  journal(tx, episode, { type: END_TYPES[status], run, rule: candidate ?? existing, doc: { ...endOf(result), ...next } });
  tx.emit({
    event: episodeSettled,
    id: derivedId('episode.settled', episode.episode, run),
    project: episode.project,
    tail: [status],
    payload: result,
  });
}

function endOf(result: RepairResult): Record<string, unknown> {
  const { recommended_scope, selected_scope, considered_rule_ids, suppression_reason } = result;
  const { error_category, turns, tool_calls, model, usage } = result;
  return {
    ...{ recommended_scope, selected_scope, considered_rule_ids, suppression_reason, error_category },
    ...{ turns, tool_calls, model, cost_usd: usage.cost_usd, usage_notes: usage.notes },
  };
}

/** Tells of every episode that ended with a run: its own, and those of the same incident that take its end. */
export function announceSettled(
  tx: Transaction,
  episode: ClaimedEpisode,
  settled: readonly SettledEpisode[],
  own: RepairResult,
): void {
  for (const one of settled) {
    const { episode: id, project, s, session, t, notice_ids: notices, kind, rule_id: rule } = one;
    const decided_by = id === episode.episode ? null : episode.episode;
    tx.journal({
      ...{
        id: derivedId('repair_notice_resolved', id),
        project,
        type: 'repair_notice_resolved',
        s,
        session,
        t,
        episode: id,
        rule,
      },
      doc: { notices, kind, decided_by },
    });
    tx.emit({
      ...{ event: noticeResolved, id: derivedId('notice.resolved', id), project, tail: [kind, sessionToken(session)] },
      payload: { session_id: session, turn_index: t, notice_ids: [...notices], kind, rule_id: rule, note: own.note },
    });
    if (decided_by === null) announceEnd(tx, episode, own);
    else announceAttached(tx, one, own);
  }
}

function announceAttached(
  tx: Transaction,
  { episode, project, session, t, notice_ids, kind, rule_id }: SettledEpisode,
  own: RepairResult,
): void {
  const payload: RepairResult = {
    ...{ episode_id: episode, incident_id: own.incident_id, session_id: session, turn_index: t, notice_ids: [...notice_ids] },
    ...{
      run: 0,
      status: kind,
      candidate_rule_id: null,
      existing_rule_id: rule_id,
      recommended_scope: null,
      selected_scope: null,
    },
    ...{ scope_rationale: null, considered_rule_ids: [], suppression_reason: null, error_category: null, note: own.note },
    ...{ turns: 0, tool_calls: 0, usage: { calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0, notes: [] }, model: null },
    ...{ decided_by: own.episode_id, started_at: own.started_at, ended_at: own.ended_at },
  };
  tx.emit({ event: episodeSettled, id: derivedId('episode.settled', episode, 0), project, tail: [kind], payload });
}

interface Line {
  readonly type: string;
  readonly run: number;
  /** Which of several lines of its type, within the run. */
  readonly part?: string;
  readonly rule?: string | null;
  readonly doc: Readonly<Record<string, unknown>>;
}

/** Notice ids that a line names. */
const NOTICES_MAX = 50;

/** A line about a run; the same line is written once. */
export function journal(tx: Transaction, { episode, project, s, session, t, noticeIds }: ClaimedEpisode, line: Line): void {
  const { type, run, part = '', rule = null, doc } = line;
  const of = { run, notices: noticeIds.slice(0, NOTICES_MAX) };
  tx.journal({ id: derivedId(type, episode, run, part), project, type, s, session, t, episode, rule, doc: { ...of, ...doc } });
}
