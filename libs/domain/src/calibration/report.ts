import { max, mean, median, min, sampleStandardDeviation } from 'simple-statistics';
import { confusionOf, ratiosOf, type Confusion, type Ratios } from './confusion.js';

const HISTOGRAM_BUCKETS = 10;
/** .05 to .95 by .05: quotients of whole numbers, so that each is the double nearest to what it is called. */
export const SWEEP_THRESHOLDS: readonly number[] = Array.from({ length: 19 }, (_, at) => ((at + 1) * 5) / 100);

/** Whether sessions failed. A session that is not in it is not labelled. */
export type Labels = ReadonlyMap<string, boolean>;

export interface CalibrationInput {
  /** Per session and metric one value in [0, 1]. */
  readonly scores: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly labels: Labels | null;
  /** The threshold in force for a metric; a value strictly below it breaches. */
  readonly thresholdOf: (metric: string) => number;
  /** In [0, 1]. */
  readonly targetPrecision: number;
  /** Where the scores come from, for the reader. */
  readonly sources: readonly string[];
}

/** One threshold of the sweep. The ratios are null when no session with the metric is labelled. */
export type SweepPoint = Confusion & { readonly threshold: number; readonly breach_count: number } & {
  readonly [Name in keyof Ratios]: number | null;
};

/** What labels say about a metric: the confusion at its threshold in force, and which thresholds would do better. */
export type LabelledMetric = Confusion &
  Ratios & {
    readonly labeled_sessions: number;
    /** The lowest threshold of the sweep with the best F1. */
    readonly best_f1_threshold: number;
    readonly best_f1: number;
    readonly target_precision: number;
    /** The lowest threshold of the sweep that reaches the target with a true positive; null when none does. */
    readonly target_precision_threshold: number | null;
  };

export interface MetricCalibration {
  readonly metric: string;
  readonly threshold: number;
  readonly count: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly mean: number;
  readonly median: number;
  /** Of the sample (n - 1); null for one value. */
  readonly stdev: number | null;
  /** Ten equal buckets over [0, 1]; 1 is in the last. */
  readonly histogram: readonly number[];
  readonly sweep: readonly SweepPoint[];
  readonly labeled: LabelledMetric | null;
}

export interface CalibrationReport {
  readonly sources: readonly string[];
  readonly session_count: number;
  readonly metrics: readonly MetricCalibration[];
  /** Over sessions scored on every metric, the share whose verdicts are all equal; null without two metrics and such a session. */
  readonly agreement: number | null;
}

interface Sample {
  readonly value: number;
  /** Undefined: not labelled. */
  readonly failed: boolean | undefined;
}

/** Thresholds against scores (BEHAVIOUR 13): metrics by name. Never throws for finite scores. */
export function calibrate(input: CalibrationInput): CalibrationReport {
  const metrics = metricsOf(input);
  return {
    sources: input.sources,
    session_count: input.scores.size,
    metrics: metrics.map((metric) => calibrateMetric(metric, input)),
    agreement: agreementOf(metrics, input),
  };
}

function metricsOf({ scores }: CalibrationInput): string[] {
  return [...new Set([...scores.values()].flatMap((session) => [...session.keys()]))].sort();
}

function calibrateMetric(metric: string, { scores, labels, thresholdOf, targetPrecision }: CalibrationInput): MetricCalibration {
  const samples = [...scores].flatMap(([session, own]): Sample[] => {
    const value = own.get(metric);
    return value === undefined ? [] : [{ value, failed: labels?.get(session) }];
  });
  const values = samples.map(({ value }) => value);
  const threshold = thresholdOf(metric);
  const sweep = SWEEP_THRESHOLDS.map((one) => sweepPoint(samples, one));
  return {
    metric,
    threshold,
    count: values.length,
    minimum: min(values),
    maximum: max(values),
    mean: mean(values),
    median: median(values),
    stdev: values.length < 2 ? null : sampleStandardDeviation(values),
    histogram: histogramOf(values),
    sweep,
    labeled: labelledMetric(sweep, sweepPoint(samples, threshold), targetPrecision),
  };
}

/** Counts per bucket. Values outside [0, 1] count in the nearest bucket. */
export function histogramOf(values: Iterable<number>): number[] {
  const buckets = Array.from({ length: HISTOGRAM_BUCKETS }, () => 0);
  for (const value of values) {
    const bucket = Math.max(0, Math.min(HISTOGRAM_BUCKETS - 1, Math.floor(value * HISTOGRAM_BUCKETS)));
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  return buckets;
}

function sweepPoint(samples: readonly Sample[], threshold: number): SweepPoint {
  const labelled = samples.flatMap(({ value, failed }): [boolean, boolean][] =>
    failed === undefined ? [] : [[value < threshold, failed]],
  );
  const confusion = confusionOf(labelled);
  const ratios = labelled.length === 0 ? { precision: null, recall: null, f1: null } : ratiosOf(confusion);
  return { threshold, breach_count: samples.filter(({ value }) => value < threshold).length, ...ratios, ...confusion };
}

function labelledMetric(sweep: readonly SweepPoint[], inForce: SweepPoint, targetPrecision: number): LabelledMetric | null {
  const { precision, recall, f1, tp, fp, tn, fn } = inForce;
  if (precision === null || recall === null || f1 === null) return null;
  const best_f1 = Math.max(...sweep.map((point) => point.f1 ?? 0));
  return {
    labeled_sessions: tp + fp + tn + fn,
    ...{ precision, recall, f1, tp, fp, tn, fn },
    best_f1_threshold: sweep.find((point) => point.f1 === best_f1)?.threshold ?? inForce.threshold,
    best_f1,
    target_precision: targetPrecision,
    target_precision_threshold:
      sweep.find((point) => point.tp > 0 && (point.precision ?? 0) >= targetPrecision)?.threshold ?? null,
  };
}

/**
 * The point of the sweep to set: of those that reach the target precision with a true positive, the one with the most recall; ties
 * go to the lowest threshold. Null when none reaches it, or nothing is labelled.
 */
export function recommendThreshold({ sweep, labeled }: MetricCalibration): SweepPoint | null {
  if (labeled === null) return null;
  const reaching = sweep.filter(({ tp, precision }) => tp > 0 && (precision ?? 0) >= labeled.target_precision);
  return reaching.reduce<SweepPoint | null>((best, point) => (best === null || point.tp > best.tp ? point : best), null);
}

function agreementOf(metrics: readonly string[], { scores, thresholdOf }: CalibrationInput): number | null {
  if (metrics.length < 2) return null;
  const complete = [...scores.values()].filter((own) => metrics.every((metric) => own.has(metric)));
  if (complete.length === 0) return null;
  const verdicts = complete.map((own) => new Set([...own].map(([metric, value]) => value < thresholdOf(metric))));
  return verdicts.filter(({ size }) => size === 1).length / complete.length;
}
