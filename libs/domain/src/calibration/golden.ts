import { calibrate, type CalibrationReport } from './report.js';

const DEFAULT_THRESHOLD = 0.5;

/** A line of the golden file `calibrate`. */
export interface CalibrateLine {
  readonly scores: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly labels: Readonly<Record<string, boolean>> | null;
  readonly thresholds: Readonly<Record<string, number>>;
  readonly target_precision: number;
}

export function answerCalibrateLine(line: CalibrateLine): { report: CalibrationReport } {
  const { scores, labels, thresholds, target_precision: targetPrecision } = line;
  const report = calibrate({
    scores: new Map(Object.entries(scores).map(([session, own]) => [session, new Map(Object.entries(own))])),
    labels: labels === null ? null : new Map(Object.entries(labels)),
    thresholdOf: (metric) => thresholds[metric] ?? DEFAULT_THRESHOLD,
    targetPrecision,
    sources: [],
  });
  return { report };
}

const TOLERANCE = 1e-12;

/** The report with the right means and standard deviations wherever its own are within 1e-12 of them: for an exact comparison. */
export function withinTolerance(report: CalibrationReport, right: CalibrationReport): CalibrationReport {
  const near = (ours: number, theirs: number | null | undefined): number =>
    typeof theirs === 'number' && Math.abs(ours - theirs) <= TOLERANCE ? theirs : ours;
  const metrics = report.metrics.map((metric, at) => {
    const { mean, stdev } = right.metrics[at] ?? {};
    return { ...metric, mean: near(metric.mean, mean), stdev: metric.stdev === null ? null : near(metric.stdev, stdev) };
  });
  return { ...report, metrics };
}
