import type { Judgement } from './judgement.js';
import type { Prompt } from './prompts/prompt.js';

/** What one run of a metric's last stage says. */
export interface Verdict {
  /** In [0, 1]. */
  readonly value: number;
  readonly reason: string;
  /** Spans that lowered the value. */
  readonly spans?: readonly string[];
}

/** There is nothing to judge: neither good nor bad. */
export interface NotApplicable {
  readonly code: string;
  readonly reason: string;
}

/** The last stage of a metric, which `judge_samples` repeats; or that there is nothing to judge. */
export type Prepared = NotApplicable | (() => Promise<Verdict>);

export interface Metric {
  /** Every prompt that decides its value; their hash is its version. */
  readonly prompts: readonly Prompt<unknown>[];
  /** Runs the stages that are made once. Throws JudgementError when the metric can have no value. */
  readonly prepare: (judgement: Judgement) => Prepared | Promise<Prepared>;
}
