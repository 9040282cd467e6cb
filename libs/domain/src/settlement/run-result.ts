import type { RepairResult, RepairStatus } from '#contracts';

/** An episode and the run that ended for it: its own, or that of the episode that spoke for the incident. */
export interface EndedRun {
  readonly episode_id: string;
  readonly incident_id: string;
  readonly session_id: string;
  readonly turn_index: number;
  readonly notice_ids: string[];
  /** How the episode ended; null when the run resolved nothing. */
  readonly outcome: { readonly status: RepairStatus; readonly rule_id: string | null } | null;
  readonly run: RepairResult;
}

/**
 * What a run came to for one episode. Where another episode's run decided it, that run's model was not asked for this one: it takes
 * the end, and costs nothing.
 */
export function runResultOf({ outcome, run, ...episode }: EndedRun): RepairResult {
  if (run.episode_id === episode.episode_id) return run;
  return {
    ...run,
    ...episode,
    status: outcome?.status ?? run.status,
    candidate_rule_id: null,
    existing_rule_id: outcome?.rule_id ?? null,
    turns: 0,
    tool_calls: 0,
    usage: { calls: 0, input_tokens: 0, output_tokens: 0, cost_usd: 0, notes: [] },
    model: null,
    decided_by: run.episode_id,
  };
}
