import { OUTCOME_METRIC } from '#contracts';
import {
  calibrate,
  calibrateGate,
  histogramOf,
  labelsFromOutcomes,
  lowestScores,
  recommendThreshold,
  type CalibrationReport,
  type GateCalibration,
  type GateGrid,
  type Labels,
  type StoredSession,
} from '#domain/calibration';
import { canFire, gateConfig, gateSettings, metricsOfTier, thresholdOf, type GateConfig } from '#domain/gate';
import type { Collected } from './read-gateway.js';

export type LabelSource = 'outcomes' | 'evalset';

export interface CalibrationOptions {
  readonly targetPrecision: number;
  readonly grid: GateGrid;
  readonly metric: string | undefined;
  /** Metrics that go through the gate; without them those of tier 1. */
  readonly gateMetrics: readonly string[] | undefined;
  readonly labelsFrom: LabelSource | undefined;
  /** They win over those of `labelsFrom`. */
  readonly fileLabels: Labels | undefined;
}

/** Sessions of one label in one bucket. */
export interface HistogramBar {
  readonly label: 'failed' | 'fine' | 'not labelled';
  /** From 0 to 9. */
  readonly bucket: number;
  readonly sessions: number;
}

export interface Calibration {
  readonly report: CalibrationReport & { readonly target_precision: number };
  readonly labels: { readonly sessions: number; readonly failed: number; readonly from: readonly string[] };
  /** Sessions of which only the newest 500 turns were replayed. */
  readonly cut_sessions: number;
  /** Null when no stored metric goes through the gate. */
  readonly gate: GateCalibration | null;
  /** What to set, for `PUT /v1/settings`: thresholds and gate settings that reach the target precision. */
  readonly settings: { readonly thresholds: Record<string, number>; readonly gate_overrides: GateCalibration['gate_overrides'] };
  readonly histograms: ReadonlyMap<string, readonly HistogramBar[]>;
}

/** Calibrates thresholds and gate from what was collected. Pure. */
export function calibrationOf(collected: Collected, options: CalibrationOptions): Calibration {
  const config = gateConfig(collected.settings);
  const labels = labelsOf(collected, options, config);
  const sessions = measured(collected.sessions, options);
  const scores = lowestScores(sessions);
  const report = calibrate({
    ...{ scores, labels, targetPrecision: options.targetPrecision, sources: [collected.source] },
    thresholdOf: (metric) => thresholdOf(config, metric),
  });
  const gate = gateCalibrationOf(sessions, labels, options, config);
  const ofScored = [...(labels ?? [])].filter(([session]) => scores.has(session));
  return {
    report: { ...report, target_precision: options.targetPrecision },
    labels: {
      sessions: ofScored.length,
      failed: ofScored.filter(([, failed]) => failed).length,
      from: [options.labelsFrom ?? [], options.fileLabels === undefined ? [] : 'file'].flat(),
    },
    cut_sessions: collected.cut,
    gate,
    settings: { thresholds: thresholdsOf(report, config), gate_overrides: gate?.gate_overrides ?? {} },
    histograms: histogramsOf(scores, labels),
  };
}

function labelsOf(
  { sessions, cases }: Collected,
  { labelsFrom, fileLabels }: CalibrationOptions,
  config: GateConfig,
): Labels | null {
  if (labelsFrom === undefined && fileLabels === undefined) return null;
  const outcomes = (): Labels => labelsFromOutcomes(sessions, OUTCOME_METRIC, thresholdOf(config, OUTCOME_METRIC));
  const found = labelsFrom === 'outcomes' ? outcomes() : labelsFrom === 'evalset' ? cases : [];
  return new Map([...found, ...(fileLabels ?? [])]);
}

/** What is calibrated: an outcome that serves as the label is no score beside it. Sessions without a value are left out. */
function measured(sessions: readonly StoredSession[], { metric, labelsFrom }: CalibrationOptions): StoredSession[] {
  const counts = (name: string): boolean =>
    (metric === undefined || name === metric) && !(labelsFrom === 'outcomes' && name === OUTCOME_METRIC);
  return sessions
    .map((session) => ({ ...session, tracks: session.tracks.filter((track) => counts(track.metric)) }))
    .filter(({ tracks }) => tracks.length > 0);
}

function gateCalibrationOf(
  sessions: readonly StoredSession[],
  labels: Labels | null,
  { gateMetrics, grid, targetPrecision }: CalibrationOptions,
  config: GateConfig,
): GateCalibration | null {
  const gated = new Set(gateMetrics ?? metricsOfTier(config, 1));
  if (!sessions.some(({ tracks }) => tracks.some(({ metric }) => gated.has(metric)))) return null;
  return calibrateGate({
    ...{ sessions, labels, grid, targetPrecision },
    isGated: (metric) => gated.has(metric),
    settingsOf: ({ metric, source }) => gateSettings(config, metric, source),
    mayFire: ({ metric, source }) => canFire(config, metric, source),
  });
}

/** Only metrics that breach by threshold have one to set. */
function thresholdsOf({ metrics }: CalibrationReport, config: GateConfig): Record<string, number> {
  const breaching = new Set([OUTCOME_METRIC, ...metricsOfTier(config, 2)]);
  return Object.fromEntries(
    metrics.flatMap((metric): [string, number][] => {
      const recommended = breaching.has(metric.metric) ? recommendThreshold(metric) : null;
      return recommended === null ? [] : [[metric.metric, recommended.threshold]];
    }),
  );
}

function histogramsOf(
  scores: ReadonlyMap<string, ReadonlyMap<string, number>>,
  labels: Labels | null,
): Calibration['histograms'] {
  const values = new Map<string, Record<HistogramBar['label'], number[]>>();
  for (const [session, own] of scores) {
    const failed = labels?.get(session);
    const label = failed === undefined ? 'not labelled' : failed ? 'failed' : 'fine';
    for (const [metric, value] of own) {
      const byLabel = values.get(metric) ?? { failed: [], fine: [], 'not labelled': [] };
      byLabel[label].push(value);
      values.set(metric, byLabel);
    }
  }
  return new Map([...values].map(([metric, byLabel]) => [metric, barsOf(byLabel)]));
}

function barsOf(byLabel: Readonly<Record<HistogramBar['label'], readonly number[]>>): HistogramBar[] {
  return (['failed', 'fine', 'not labelled'] as const).flatMap((label) =>
    histogramOf(byLabel[label]).map((sessions, bucket) => ({ label, bucket, sessions })),
  );
}
