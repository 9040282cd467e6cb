import type { z } from 'zod';
import type { Trace, Turn } from '#contracts';
import type { Usage } from '#llm';
import type { OwnJudge } from './own/own-judge.js';

/** One structured question to a model. Instructions are in `system`; `user` holds fenced material from outside only. */
export interface Question<T> {
  /** What is asked, for logs and for the name of the JSON schema: `[a-z_]+`. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  readonly schema: z.ZodType<T>;
  readonly maxOutputTokens: number;
  readonly temperature: number | undefined;
  readonly signal?: AbortSignal;
}

/** The model behind the judges; the scoring service answers it with libs/llm. Values satisfy the question's schema; throws what libs/llm throws. */
export interface JudgeModel {
  ask<T>(question: Question<T>): Promise<{ readonly value: T; readonly usage: Usage }>;
  readonly countTokens: (text: string) => number;
}

/**
 * Results that several metrics of one trace need, computed once per trace revision and judge model, also when asked for
 * concurrently. A failure is not kept. Values are plain JSON, so they can be stored.
 */
export interface StageMemory {
  /** `stage` is the stage's name, `@` and the hash of its prompt. */
  once<T>(stage: string, make: () => Promise<T>): Promise<T>;
}

export interface JudgeTask {
  readonly metric: string;
  /** The judge that the project registered under this name; without one, `metric` is one of `judgedMetrics`. */
  readonly definition?: OwnJudge;
  readonly turn: Turn;
  readonly trace: Trace;
  /** A value strictly below it breaches. */
  readonly threshold: number;
  /** How often the last stage is asked (`judge_samples`), 1 or more; the median counts. */
  readonly samples: number;
  /** Whether a value below the threshold is judged twice more (`confirm_breach`, for tier 2). */
  readonly confirmBreach: boolean;
  /** Tokens that the digest of the trace may have. */
  readonly digestTokens: number;
  readonly stages: StageMemory;
  readonly signal?: AbortSignal;
}

export interface JudgeOutcome {
  readonly status: 'scored' | 'failed' | 'not_applicable';
  /** In [0, 1] when scored, else null. */
  readonly value: number | null;
  readonly reason: string | null;
  readonly code: string | null;
  /** Spans that lowered the value, 50 at most. */
  readonly spans: readonly string[];
  /** Everything that this judgement spent, its failed calls included. A shared stage is paid by whoever computed it. */
  readonly usage: Usage;
}
