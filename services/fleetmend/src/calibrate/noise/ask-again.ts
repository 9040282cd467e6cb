import pLimit from 'p-limit';
import { judge, inMemoryStages, type JudgeModel, type JudgeTask } from '#judges';
import { addUsage, ModelError, NO_USAGE, type ModelErrorKind, type Usage } from '#llm';
import type { SampledTrace } from './sample-traces.js';

/** How a trace is judged, each time in the same way. */
export type Instrument = Pick<JudgeTask, 'metric' | 'definition' | 'threshold' | 'samples' | 'confirmBreach' | 'digestTokens'>;

export interface AskAgain {
  readonly instrument: Instrument;
  readonly model: JudgeModel;
  readonly repeat: number;
  /** Judgements at one time. */
  readonly concurrency: number;
  readonly onProgress: (done: number, usage: Usage) => void;
}

/** What repeated judgements of one trace gave. */
export interface Readings {
  readonly session_id: string;
  readonly turn_index: number;
  readonly trace_id: string;
  readonly values: readonly number[];
  /** Judgements without a value, by code: there was nothing to judge, or this trace cannot be judged. */
  readonly without_value: Readonly<Record<string, number>>;
}

export interface Asked {
  readonly readings: readonly Readings[];
  /** Judgements that the endpoint gave no answer to. */
  readonly unanswered: number;
  readonly trouble: ModelError | null;
  readonly usage: Usage;
}

/** Nothing helps until a person acts. */
const FATAL: ReadonlySet<ModelErrorKind> = new Set(['auth', 'config', 'billing']);
/** Each has been tried several times already: an endpoint that is away is not asked a thousand times whether it still is. */
const TROUBLES_IN_A_ROW = 5;

/**
 * Judges every trace `repeat` times, nothing remembered in between. All traces once, then all again, so that a run that has to stop
 * has compared what it could. @throws ModelError `auth`, `config` or `billing`, with all that was spent
 */
export async function askAgain(traces: readonly SampledTrace[], options: AskAgain): Promise<Asked> {
  const run = new Run(traces, options);
  const limit = pLimit(options.concurrency);
  const rounds = Array.from({ length: options.repeat }, () => traces.map((_, at) => limit(() => run.ask(at))));
  await Promise.all(rounds.flat());
  return run.end();
}

class Run {
  private readonly values: number[][];
  private readonly codes: Record<string, number>[];
  private readonly stop = new AbortController();
  private usage: Usage = NO_USAGE;
  private done = 0;
  private unanswered = 0;
  private inARow = 0;
  private trouble: ModelError | null = null;

  constructor(
    private readonly traces: readonly SampledTrace[],
    private readonly options: AskAgain,
  ) {
    this.values = traces.map(() => []);
    this.codes = traces.map(() => ({}));
  }

  async ask(at: number): Promise<void> {
    const sampled = this.traces[at];
    if (sampled === undefined || this.stop.signal.aborted) return;
    const { instrument, model } = this.options;
    try {
      const task = { ...instrument, ...sampled, stages: inMemoryStages(), signal: this.stop.signal };
      const { value, code, status, usage } = await judge(task, model);
      this.spend(usage);
      this.inARow = 0;
      if (value !== null) this.values[at]?.push(value);
      else this.count(at, code ?? status);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.spend(error.usage);
      this.fail(error);
    }
  }

  /** @throws ModelError when nothing more could be asked until a person acts */
  end(): Asked {
    if (this.trouble !== null && FATAL.has(this.trouble.kind)) throw this.trouble.withUsage(this.usage);
    const readings = this.traces.map(({ turn, trace }, at) => ({
      ...{ session_id: turn.session_id, turn_index: turn.turn_index, trace_id: trace.trace_id },
      ...{ values: this.values[at] ?? [], without_value: this.codes[at] ?? {} },
    }));
    return { readings, unanswered: this.unanswered, trouble: this.trouble, usage: this.usage };
  }

  private spend(usage: Usage): void {
    this.usage = addUsage(this.usage, usage);
    this.done += 1;
    this.options.onProgress(this.done, this.usage);
  }

  private count(at: number, code: string): void {
    const codes = this.codes[at];
    if (codes !== undefined) codes[code] = (codes[code] ?? 0) + 1;
  }

  private fail(error: ModelError): void {
    if (error.kind === 'cancelled') return;
    this.unanswered += 1;
    this.inARow += 1;
    if (this.trouble === null || !FATAL.has(this.trouble.kind)) this.trouble = error;
    if (FATAL.has(error.kind) || this.inARow >= TROUBLES_IN_A_ROW) this.stop.abort();
  }
}
