import {
  recommendThreshold,
  type GateOutcome,
  type GateTrial,
  type LabelledMetric,
  type MetricCalibration,
  type SweepPoint,
  type TrackCalibration,
} from '#domain/calibration';
import { sanitize } from '#domain/text';
import { table, type Column } from '../output/table.js';
import type { Calibration } from './calibration.js';

const BAR = 30;
/** Combinations shown per track; JSON has all. */
const SHOWN_TRIALS = 10;

/** The calibration for people. */
export function calibrationText(calibration: Calibration): string {
  const { report, labels, gate, cut_sessions: cut } = calibration;
  const labelled = labels.from.length === 0 ? 'no labels' : `${labels.sessions} labelled (${labels.failed} failed)`;
  return [
    `${report.session_count} sessions, ${labelled}${cut === 0 ? '' : `; of ${cut} only the newest 500 turns`}`,
    ...report.metrics.map(metricText),
    report.agreement === null ? [] : `The metrics agree in ${percent(report.agreement)} of the sessions scored on all of them.`,
    gate === null ? 'The gate: no stored metric goes through it (name others with --gate-metrics).' : gateText(calibration, gate),
    settingsText(calibration),
  ]
    .flat()
    .join('\n\n');
}

function metricText(metric: MetricCalibration): string {
  const { count, threshold, minimum, median, mean, maximum, stdev, histogram, sweep, labeled } = metric;
  const spread = stdev === null ? '' : `, standard deviation ${short(stdev)}`;
  const most = Math.max(1, ...histogram);
  return [
    `${plain(metric.metric)}: ${count} sessions, threshold ${threshold}`,
    `  lowest ${short(minimum)}, median ${short(median)}, mean ${short(mean)}, highest ${short(maximum)}${spread}`,
    ...histogram.map(
      (sessions, at) => `  ${(at / 10).toFixed(1)} ${'█'.repeat(Math.round((sessions / most) * BAR))} ${sessions}`,
    ),
    ...(labeled === null ? [] : labelledText(metric, labeled)),
    indented(table(sweep, sweepColumns(labeled !== null))),
  ].join('\n');
}

function labelledText(metric: MetricCalibration, labeled: LabelledMetric): string[] {
  const { best_f1, best_f1_threshold, target_precision: target, target_precision_threshold: lowest } = labeled;
  const most = recommendThreshold(metric);
  const reached = `precision ${target} from ${lowest}, with the most recall (${short(most?.recall ?? null)}) at ${most?.threshold}`;
  return [
    `  at ${metric.threshold}: ${ratiosText(labeled)}`,
    `  best F1 ${short(best_f1)} at ${best_f1_threshold}; ${most === null ? `no threshold reaches precision ${target}` : reached}`,
  ];
}

function ratiosText({ precision, recall, f1, tp, fp, tn, fn }: LabelledMetric | NonNullable<GateOutcome['labeled']>): string {
  return `precision ${short(precision)}, recall ${short(recall)}, F1 ${short(f1)} (tp ${tp}, fp ${fp}, tn ${tn}, fn ${fn})`;
}

function sweepColumns(labelled: boolean): Column<SweepPoint>[] {
  const ratio = (name: 'precision' | 'recall' | 'f1'): Column<SweepPoint> => ({
    ...{ title: name, right: true },
    of: (point) => short(point[name]),
  });
  return [
    { title: 'threshold', of: ({ threshold }) => threshold.toFixed(2) },
    { title: 'breaches', of: ({ breach_count: count }) => count, right: true },
    ...(labelled ? [ratio('precision'), ratio('recall'), ratio('f1')] : []),
  ];
}

function gateText({ report }: Calibration, gate: NonNullable<Calibration['gate']>): string {
  return [
    `The gate as it is set: ${outcomeText(gate.in_force)}`,
    ...(gate.recommended === null ? [] : [`The gate as recommended: ${outcomeText(gate.recommended)}`]),
    ...gate.tracks.map((track) => `\n${trackText(track, report.target_precision)}`),
  ].join('\n');
}

function outcomeText({ sessions, fired, stalled, regressed, median_turns_before_end: before, labeled }: GateOutcome): string {
  const early = before === null ? '' : `, half of them at least ${before} turns before the end`;
  const found = labeled === null ? '' : `; ${ratiosText(labeled)}`;
  return `${fired} of ${sessions} sessions would have fired (stall ${stalled}, regression ${regressed})${early}${found}`;
}

function trackText({ metric, source, in_force, grid, recommendation }: TrackCalibration, target: number): string {
  const name = `${plain(metric)}@${plain(source)}`;
  const best = [...grid].sort((a, b) => rank(b) - rank(a) || b.outcome.fired - a.outcome.fired).slice(0, SHOWN_TRIALS);
  const rows = [
    { name: 'in force', ...in_force },
    ...(recommendation === null ? [] : [{ name: recommendation.reached ? 'recommended' : 'nearest', ...recommendation }]),
    ...best.map((trial) => ({ name: '', ...trial })),
  ];
  const verdict =
    recommendation === null
      ? 'nothing to recommend without labels of sessions that fire'
      : recommendation.reached
        ? `precision ${target} is reached; ${recommendation.ties.length} other combinations do as well`
        : `no combination reaches precision ${target}`;
  return `${name}, ${grid.length} combinations tried: ${verdict}\n${indented(table(rows, trialColumns(in_force.outcome.labeled !== null)))}`;
}

const rank = ({ outcome }: GateTrial): number => outcome.labeled?.f1 ?? 0;

function trialColumns(labelled: boolean): Column<GateTrial & { readonly name: string }>[] {
  const setting = (title: string, name: keyof GateTrial['settings']): Column<GateTrial & { readonly name: string }> => ({
    ...{ title, right: true },
    of: ({ settings }) => settings[name],
  });
  const ratio = (name: 'precision' | 'recall' | 'f1'): Column<GateTrial & { readonly name: string }> => ({
    ...{ title: name, right: true },
    of: ({ outcome }) => short(outcome.labeled?.[name] ?? null),
  });
  return [
    { title: '', of: ({ name }) => name },
    ...[
      setting('window', 'gate_window'),
      setting('target', 'gate_target'),
      setting('gain', 'gate_gain'),
      setting('drop', 'gate_drop'),
    ],
    { title: 'fired', of: ({ outcome }) => outcome.fired, right: true },
    { title: 'stall', of: ({ outcome }) => outcome.stalled, right: true },
    { title: 'regression', of: ({ outcome }) => outcome.regressed, right: true },
    { title: 'turns before end', of: ({ outcome }) => outcome.median_turns_before_end ?? '', right: true },
    ...(labelled ? [ratio('precision'), ratio('recall'), ratio('f1')] : []),
  ];
}

/** A shell could read more into a name than a name: such settings are in the JSON only. */
const SAFE_NAME = /^[\w@-]+$/;

function settingsText({ settings: { thresholds, gate_overrides } }: Calibration): string[] {
  const pairs = [
    ...Object.entries(thresholds).map(([metric, threshold]) => [metric, `thresholds.${metric}=${threshold}`] as const),
    ...Object.entries(gate_overrides).map(([track, set]) => [track, `'gate_overrides.${track}=${JSON.stringify(set)}'`] as const),
  ].filter(([name]) => SAFE_NAME.test(name));
  if (pairs.length === 0) return [];
  return [`To set what reaches the target precision:\n  $ fleetmend settings set ${pairs.map(([, pair]) => pair).join(' ')}`];
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function short(value: number | null): string {
  return value === null ? '' : value.toFixed(2);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Names come from outside. */
function plain(name: string): string {
  return sanitize(name, { markers: [] }).replace(/\s+/g, ' ');
}
