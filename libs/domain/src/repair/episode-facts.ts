import type { Notice, Report, TraceSignal } from '#contracts';

/** A notice of the episode, as it is repaired. */
export type RepairNotice = Pick<
  Notice,
  'id' | 'severity' | 'signatures' | 'summary' | 'metrics' | 'flagged_traces' | 'scope_hints' | 'recommended_scope'
>;

/** What is known of an episode without its traces. Everything in it is from outside. */
export interface EpisodeFacts {
  readonly notices: readonly RepairNotice[];
  readonly report: Report | null;
  readonly signals: readonly TraceSignal[] | null;
  readonly end_state: unknown;
  readonly agent_version: string | null;
  readonly model: string | null;
  readonly task_summary: unknown;
}

/** One trace of the episode's turn with its scores, and the tools that the agent had. */
export interface TraceFacts {
  readonly trace_id: string;
  /** Null where the trace was flagged and is not stored. */
  readonly trace: RecordedTrace | null;
  readonly tools: readonly { readonly name?: unknown }[] | null;
  readonly scores: readonly RecordedScore[];
}

export interface RecordedTrace {
  readonly name?: string | null;
  readonly status?: string | null;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly spans?: readonly RecordedSpan[] | null;
}

export interface RecordedSpan {
  readonly span_id: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

export interface RecordedScore {
  readonly metric: string;
  readonly tier: number;
  readonly status: string;
  readonly value: number | null;
  readonly reason: string | null;
  readonly code: string | null;
  readonly spans: readonly string[];
}
