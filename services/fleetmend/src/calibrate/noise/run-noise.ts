import { loadSettings } from '#config';
import { projectSettings, type ProcessSettings, type ProjectSettings } from '#contracts';
import { gateConfig, thresholdOf } from '#domain/gate';
import { judgedMetrics, type OwnJudge } from '#judges';
import { inMemoryCapabilities, ModelEndpoint, ModelError, pricesFromSettings, priceTable, tokenCounter } from '#llm';
import { DIGEST_TOKENS } from '../../../../scoring/src/jobs/judge-evaluator.js';
import { CommandError, exitCodes, type ExitCode } from '../../exit-codes.js';
import { answer, type FormatOption } from '../../output/answer.js';
import { Progress } from '../../output/progress.js';
import { say } from '../../output/write.js';
import { sizeOf } from '../../recordings/read-recordings.js';
import { readTools } from '../../recordings/read-tools.js';
import { askAgain, type Asked } from './ask-again.js';
import { reportOf, type MeasuredJudge } from './noise-report.js';
import { noiseText } from './noise-text.js';
import { sampleTraces, type Sample } from './sample-traces.js';

export interface NoiseOptions extends FormatOption {
  readonly turns: string;
  readonly metric: string;
  readonly repeat: number;
  readonly sample: number;
  readonly judgeModel?: string;
  readonly tools?: string;
}

/** @throws CommandError 1 without two values of any trace, 2 or 3 for what cannot be used, 4 or 5 for an endpoint that refuses or is away */
export async function runNoise(options: NoiseOptions): Promise<void> {
  const { process: own, projects } = loadSettings();
  const judge = judgeOf(options, projectSettings.parse(projects));
  await sizeOf([options.turns]);
  const sample = await sampleTraces(options.turns, options.sample, { tools: await readTools(options.tools) });
  if (sample.traces.length === 0) throw new CommandError(exitCodes.finding, noTraces(options.turns, sample));
  const asked = await ask(sample, judge, own, options.repeat);
  const report = reportOf(options.repeat, judge, sample, asked);
  if (asked.trouble !== null) say(`${asked.unanswered} judgements got no answer: ${asked.trouble.message}`);
  await answer(report, options, noiseText);
}

function judgeOf({ metric, judgeModel }: NoiseOptions, settings: ProjectSettings): MeasuredJudge {
  const registered = settings.metrics[metric];
  const definition: OwnJudge | undefined = registered?.kind === 'judge' ? registered : undefined;
  if (definition === undefined && !(judgedMetrics as readonly string[]).includes(metric)) {
    const own = Object.entries(settings.metrics).flatMap(([name, { kind }]) => (kind === 'judge' ? [name] : []));
    throw new CommandError(exitCodes.usage, `no model judges "${metric}"; it can be ${[...judgedMetrics, ...own].join(', ')}`);
  }
  const model = judgeModel ?? settings.judge_model;
  if (model === null)
    throw new CommandError(
      exitCodes.usage,
      'no model is set: name one with --judge-model, or set judge_model (FLEETMEND_JUDGE_MODEL)',
    );
  const instrument = {
    ...{ metric, threshold: thresholdOf(gateConfig(settings), metric), digestTokens: DIGEST_TOKENS },
    ...(definition === undefined ? {} : { definition }),
    samples: settings.judge_samples,
    confirmBreach: settings.confirm_breach && settings.tier2_metrics.includes(metric),
  };
  return { model, settings, instrument };
}

function noTraces(file: string, { unreadable, firstReason }: Sample): string {
  const why =
    firstReason === null ? 'turns need their traces inline' : `${unreadable} lines cannot be read, the first: ${firstReason}`;
  return `no traces in ${file}: ${why}`;
}

async function ask(sample: Sample, judge: MeasuredJudge, own: ProcessSettings, repeat: number): Promise<Asked> {
  const progress = new Progress('judging', sample.traces.length * repeat);
  try {
    const endpoint = endpointOf(own);
    const { model, instrument } = judge;
    return await askAgain(sample.traces, {
      ...{ instrument, repeat, concurrency: own.max_concurrent_evals },
      model: { ask: (question) => endpoint.structured({ model, ...question }), countTokens: await tokenCounter() },
      onProgress: (done, { calls, costUsd }) =>
        progress.show(done, `${calls} calls${costUsd === null ? '' : `, $${costUsd.toFixed(4)}`}`),
    });
  } catch (error) {
    throw error instanceof ModelError ? endpointError(error, own) : error;
  } finally {
    progress.clear();
  }
}

function endpointOf(own: ProcessSettings): ModelEndpoint {
  const { judge_base_url: baseUrl, judge_api_key: apiKey, judge_headers: headers, judge_timeout_s: timeoutS } = own;
  return new ModelEndpoint(
    { baseUrl, apiKey, headers, timeoutMs: timeoutS * 1_000, concurrency: own.max_concurrent_evals },
    { capabilities: inMemoryCapabilities(), prices: priceTable(pricesFromSettings(own.model_prices)) },
  );
}

const SETTING_AT_FAULT: Readonly<Partial<Record<ModelError['kind'], string>>> = {
  auth: 'judge_api_key (FLEETMEND_JUDGE_API_KEY)',
  config: 'judge_base_url, --judge-model',
  billing: 'judge_base_url',
};

function endpointError(error: ModelError, { judge_base_url: url }: ProcessSettings): CommandError {
  const setting = SETTING_AT_FAULT[error.kind];
  const advice = setting === undefined ? '' : `; see ${setting}`;
  return new CommandError(exitCodeOf(error), `${url}: ${error.message}${advice}`, { cause: error });
}

function exitCodeOf({ kind }: ModelError): ExitCode {
  if (kind === 'config') return exitCodes.usage;
  return kind === 'auth' || kind === 'billing' ? exitCodes.notAllowed : exitCodes.unreachable;
}
