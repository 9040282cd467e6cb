import type { Axis, GroupMark, Mark, Scale, Spec, Title } from 'vega';
import { recommendThreshold, type MetricCalibration, type TrackCalibration } from '#domain/calibration';
import type { Calibration, HistogramBar } from './calibration.js';

const [WIDTH, HEIGHT] = [360, 200];
/** Room above the bars for the names of the thresholds, a line each. */
const [TEXT_ROWS, ROW] = [3, 12];
/** Distinct in grey and for the colour-blind too: failed dark orange, fine blue, not labelled grey. */
const COLOURS: Readonly<Record<HistogramBar['label'], string>> = {
  failed: '#d95f02',
  fine: '#7aa6d6',
  'not labelled': '#b0b0b0',
};
const INK = '#333333';
const CHOSEN = '#1b7837';

/** The histograms of the metrics, and per gated track what every combination of gate settings would do, as one Vega drawing. */
export function plotOf({ report, labels, histograms, gate }: Calibration): Spec {
  return {
    ...{ background: 'white', padding: 16 },
    title: titleOf('Calibration', 16),
    layout: { columns: 2, padding: 56, bounds: 'full', align: 'each' },
    config: { axis: { labelFontSize: 10, titleFontSize: 11 } },
    scales: [{ name: 'colour', type: 'ordinal', domain: Object.keys(COLOURS), range: Object.values(COLOURS) }],
    // Without labels there is one colour only, and nothing to explain.
    ...(labels.from.length === 0
      ? {}
      : { legends: [{ fill: 'colour', orient: 'top', direction: 'horizontal', title: 'sessions' }] }),
    marks: [
      ...report.metrics.map((metric) => histogramGroup(metric, histograms.get(metric.metric) ?? [])),
      ...(gate?.tracks ?? []).map((track) => gateGroup(track, report.target_precision)),
    ],
  };
}

const value = (given: number | string): { value: number | string } => ({ value: given });

function histogramGroup(metric: MetricCalibration, bars: readonly HistogramBar[]): GroupMark {
  const sessions = 'sessions';
  return {
    ...group(`${metric.metric}: lowest value per session`),
    data: [
      {
        name: 'bars',
        values: bars.map((bar) => ({ ...bar, from: bar.bucket / 10, to: (bar.bucket + 1) / 10 })),
        transform: [{ type: 'stack', groupby: ['bucket'], sort: { field: 'label' }, field: sessions }],
      },
    ],
    scales: [
      unitScale('x'),
      {
        name: 'y',
        type: 'linear',
        range: [HEIGHT, TEXT_ROWS * ROW + 6],
        domain: { data: 'bars', field: 'y1' },
        nice: true,
        zero: true,
      },
    ],
    axes: axes('value', sessions),
    marks: [
      {
        type: 'rect',
        from: { data: 'bars' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'from', offset: 1 },
            x2: { scale: 'x', field: 'to' },
            y: { scale: 'y', field: 'y0' },
            y2: { scale: 'y', field: 'y1' },
            fill: { scale: 'colour', field: 'label' },
          },
        },
      },
      ...thresholdMarks(metric),
    ],
  };
}

/** Where it stands, and where it would do better. */
function thresholdMarks(metric: MetricCalibration): Mark[] {
  const { threshold, labeled } = metric;
  const recommended = recommendThreshold(metric)?.threshold;
  return [
    ...rule('x', threshold, { text: `now ${threshold}`, colour: INK, row: 0 }),
    ...(labeled === null || labeled.best_f1 === 0
      ? []
      : rule('x', labeled.best_f1_threshold, { text: `best F1 ${labeled.best_f1_threshold}`, colour: CHOSEN, row: 1 })),
    ...(recommended === undefined ? [] : rule('x', recommended, { text: `recommended ${recommended}`, colour: CHOSEN, row: 2 })),
  ];
}

interface RuleLook {
  readonly text: string;
  readonly colour: string;
  /** Which line its text stands in, so that texts do not cover each other. */
  readonly row: number;
}

function rule(scale: 'x' | 'y', at: number, { text, colour, row }: RuleLook): Mark[] {
  const across = scale === 'x' ? { y: value(0), y2: value(HEIGHT) } : { x: value(0), x2: value(WIDTH) };
  const place = { scale, value: at };
  const beside =
    scale === 'x'
      ? { x: { ...place, offset: at > 0.6 ? -4 : 4 }, y: value(10 + ROW * row), align: value(at > 0.6 ? 'right' : 'left') }
      : { x: value(4), y: { ...place, offset: -4 } };
  const stroke = { stroke: value(colour), strokeDash: { value: row === 0 ? [] : [4, 3] } };
  return [
    { type: 'rule', encode: { enter: { ...across, [scale]: place, ...stroke } } } as Mark,
    { type: 'text', encode: { enter: { ...beside, text: value(text), fill: value(colour), fontSize: value(10) } } } as Mark,
  ];
}

/** With labels precision over recall; without, how early over how many sessions fire. */
function gateGroup(track: TrackCalibration, targetPrecision: number): GroupMark {
  const labelled = track.in_force.outcome.labeled !== null;
  const points = pointsOf(track);
  const longest = Math.max(1, ...points.map(({ y }) => y));
  const yScale: Scale = labelled
    ? unitScale('y')
    : { name: 'y', type: 'linear', range: [HEIGHT, 0], domain: [0, longest], nice: true };
  return {
    ...group(`gate on ${track.metric}@${track.source}: every combination tried`),
    data: [{ name: 'points', values: points }],
    scales: [unitScale('x'), yScale],
    axes: labelled
      ? axes('recall: share of failed sessions that fire', 'precision')
      : axes('share of sessions that fire', 'median turns before the end'),
    marks: [
      {
        type: 'symbol',
        from: { data: 'points' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'x' },
            y: { scale: 'y', field: 'y' },
            fill: { field: 'colour' },
            fillOpacity: { field: 'opacity' },
            size: { field: 'size' },
            shape: { field: 'shape' },
          },
        },
      },
      {
        type: 'text',
        from: { data: 'points' },
        encode: {
          enter: {
            x: { scale: 'x', field: 'x', offset: 8 },
            y: { scale: 'y', field: 'y', offset: 3 },
            text: { field: 'text' },
            fill: { field: 'colour' },
            fontSize: value(10),
          },
        },
      } as Mark,
      ...(labelled ? rule('y', targetPrecision, { text: `target ${targetPrecision}`, colour: CHOSEN, row: 1 }) : []),
    ],
  };
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly [look: string]: number | string;
}

/** Those of the grid first, so that the two that matter lie on top. */
function pointsOf({ grid, in_force, recommendation }: TrackCalibration): Point[] {
  const at = ({ outcome }: TrackCalibration['in_force']): { x: number; y: number } =>
    outcome.labeled === null
      ? { x: outcome.fired / Math.max(1, outcome.sessions), y: outcome.median_turns_before_end ?? 0 }
      : { x: outcome.labeled.recall, y: outcome.labeled.precision };
  const fired = grid.filter(({ outcome }) => outcome.fired > 0);
  const name = recommendation?.reached === true ? 'recommended' : 'nearest to the target';
  return [
    ...fired.map((trial) => ({ ...at(trial), colour: COLOURS.fine, opacity: 0.5, size: 40, shape: 'circle', text: '' })),
    { ...at(in_force), colour: INK, opacity: 1, size: 90, shape: 'square', text: 'now' },
    ...(recommendation === null
      ? []
      : [{ ...at(recommendation), colour: CHOSEN, opacity: 1, size: 90, shape: 'diamond', text: name }]),
  ];
}

function group(title: string): Pick<GroupMark, 'type' | 'title' | 'encode'> & { type: 'group' } {
  return {
    type: 'group',
    title: titleOf(title, 12),
    encode: { enter: { width: { value: WIDTH }, height: { value: HEIGHT } } },
  };
}

function titleOf(text: string, fontSize: number): Title {
  return { text, fontSize, anchor: 'start', offset: fontSize / 2 };
}

function unitScale(name: 'x' | 'y'): Scale {
  return { name, type: 'linear', range: name === 'x' ? [0, WIDTH] : [HEIGHT, 0], domain: [0, 1] };
}

function axes(x: string, y: string): Axis[] {
  return [
    { scale: 'x', orient: 'bottom', title: x, tickCount: 10 },
    { scale: 'y', orient: 'left', title: y, tickCount: 5, grid: true, gridOpacity: 0.4 },
  ];
}
