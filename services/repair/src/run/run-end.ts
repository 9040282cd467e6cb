import type { ResolvingStatus } from '#contracts';
import type { Conversation } from '#domain/repair';
import type { Usage } from '#llm';
import type { ClaimedEpisode } from '../claimed-episode.js';
import type { RunReport } from '../postgres/work-store.js';

/** How a run came to its end. */
export type RunEnd =
  | { readonly kind: 'resolved'; readonly status: ResolvingStatus; readonly ruleId: string | null; readonly note: string | null }
  | {
      readonly kind: 'unresolved';
      readonly status: 'failed' | 'timed_out' | 'cancelled';
      readonly category: string | null;
      /** Seconds that the provider asked to be left alone. */
      readonly retryAfterS: number | null;
    };

/** What a run did until its end. */
export interface RunDeeds {
  readonly conversation: Conversation;
  readonly usage: Usage;
  /** Null when no model was asked. */
  readonly model: string | null;
  readonly recommendedScope: string | null;
}

/** What is said of a run, whatever its end. */
export function runReport(episode: ClaimedEpisode, deeds: RunDeeds, end: RunEnd): RunReport {
  const { conversation, usage, model, recommendedScope } = deeds;
  const existing =
    end.kind === 'resolved' && (end.status === 'duplicate' || end.status === 'already_covered') ? end.ruleId : null;
  return {
    ...{ episode_id: episode.episode, incident_id: episode.incident, session_id: episode.session, turn_index: episode.t },
    ...{ notice_ids: [...episode.noticeIds], run: episode.run, status: end.status, decided_by: null, model },
    ...{ candidate_rule_id: conversation.candidate, existing_rule_id: existing, recommended_scope: recommendedScope },
    ...{ selected_scope: conversation.selectedScope, scope_rationale: conversation.scopeRationale },
    ...{ considered_rule_ids: [...conversation.consideredRuleIds], suppression_reason: conversation.suppressionReason },
    error_category: end.kind === 'unresolved' ? end.category : null,
    note: end.kind === 'resolved' ? end.note : null,
    ...{ turns: conversation.turns, tool_calls: conversation.toolCalls, usage: told(usage) },
  };
}

function told({ calls, inputTokens, outputTokens, costUsd, notes }: Usage): RunReport['usage'] {
  return { calls, input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd, notes: [...notes] };
}
