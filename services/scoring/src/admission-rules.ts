import type { ProjectSettings } from '#contracts';

/** What of a project's settings decides whether a turn is scored at all (BEHAVIOUR 1.3). Decided once, when the turn is accepted. */
export type AdmissionRules = Pick<
  ProjectSettings,
  'eval_sample_every' | 'session_min_eval_interval_s' | 'max_evals' | 'budget_window_h' | 'max_cost_usd'
> & {
  /** The most that one value may cost: a day that cannot pay it any more is spent. 0 where nothing can be said. */
  readonly valueUsd: number;
};
