import { metricAnswer, type MetricRequest, type Trace } from '#contracts';
import { answerText, requestText } from '#domain/checks';
import { sanitize } from '#domain/text';
import type { StageMemory } from '#judges';
import { QuestionTooLarge } from '../nats/requests.js';
import type { LoadedJob, Wanted } from '../postgres/job-store.js';
import { evaluatorOf } from '../score-tier.js';
import { Trouble } from './trouble.js';
import type { ValueEvaluator, Verdict } from './value-task.js';

/** How a project's own evaluator is reached. Both throw Trouble when it is not. */
export interface OwnTransport {
  /** The parsed JSON of the answer. */
  webhook(url: string, request: MetricRequest, options: { timeoutMs: number; signal: AbortSignal }): Promise<unknown>;
  responder(project: string, request: MetricRequest, options: { timeoutMs: number; signal: AbortSignal }): Promise<unknown>;
}

const DEFAULT_TIMEOUT_S = 30;

/** Metrics that a project registered as a webhook or a NATS responder: they answer {value, reason}. */
export class OwnEvaluator implements ValueEvaluator {
  constructor(private readonly transport: OwnTransport) {}

  async evaluate(job: LoadedJob, wanted: Wanted, { signal }: { stages: StageMemory; signal: AbortSignal }): Promise<Verdict> {
    const evaluator = evaluatorOf(wanted.metric, job.config);
    const trace = (job.turn.traces ?? []).find(({ trace_id: id }) => id === wanted.trace);
    if (trace === undefined) throw new Error(`the turn has no trace "${wanted.trace}"`);
    const options = { timeoutMs: (evaluator.timeoutS ?? DEFAULT_TIMEOUT_S) * 1000, signal };
    const request = requestOf(job, wanted.metric, trace);
    return {
      outcome: await this.outcome(job, evaluator, { request, options }),
      ...{ evaluator: wanted.evaluator, promptHash: null, spent: null, asked: true },
    };
  }

  private async outcome(...asked: Parameters<OwnEvaluator['ask']>): Promise<Verdict['outcome']> {
    try {
      return outcomeOf(await this.ask(...asked));
    } catch (error) {
      if (!(error instanceof QuestionTooLarge)) throw error;
      return { status: 'failed', value: null, code: 'too_large', reason: error.message, spans: [] };
    }
  }

  private ask(
    { job }: LoadedJob,
    evaluator: ReturnType<typeof evaluatorOf>,
    { request, options }: { request: MetricRequest; options: { timeoutMs: number; signal: AbortSignal } },
  ): Promise<unknown> {
    if (evaluator.kind === 'webhook') return this.transport.webhook(evaluator.url, request, options);
    if (evaluator.kind === 'responder') return this.transport.responder(job.project, request, options);
    throw new Trouble({ kind: 'failed', error: `${request.metric} is not made by a webhook or a responder`, delayMs: 0 });
  }
}

function requestOf({ session, turn }: LoadedJob, metric: string, trace: Trace): MetricRequest {
  return {
    ...{ metric, session_id: session, turn_index: turn.turn_index, trace, end_state: turn.end_state ?? null },
    request: requestText(trace) || requestText(turn),
    answer: answerText(trace) || answerText(turn),
  };
}

function outcomeOf(answer: unknown): Verdict['outcome'] {
  const parsed = metricAnswer.safeParse(answer);
  if (!parsed.success) {
    const reason = `The answer is not {value, reason} with a value in [0, 1]: ${sanitize(JSON.stringify(answer).slice(0, 200))}`;
    return { status: 'failed', value: null, code: 'invalid_answer', reason, spans: [] };
  }
  if ('error' in parsed.data)
    return { status: 'failed', value: null, code: 'evaluator_error', reason: sanitize(parsed.data.error), spans: [] };
  const { value } = parsed.data;
  const reason = parsed.data.reason === null ? null : sanitize(parsed.data.reason);
  if (value === null) return { status: 'not_applicable', value, code: 'no_verdict', reason, spans: [] };
  return { status: 'scored', value, code: 'ok', reason, spans: [] };
}
