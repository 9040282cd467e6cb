import { loadSettings } from '#config';
import { projectSettings } from '#contracts';
import { defaultGrid, type GateGrid } from '#domain/calibration';
import { CommandError, exitCodes } from '../exit-codes.js';
import type { GatewayOptions } from '../http/gateway.js';
import { answer, type FormatOption } from '../output/answer.js';
import { say } from '../output/write.js';
import { calibrationOf, type LabelSource } from './calibration.js';
import { writePlot } from '../output/write-plot.js';
import { plotOf } from './plot.js';
import { readScoresFile } from './read-file.js';
import { readFromGateway, type Collected } from './read-gateway.js';
import { readLabels } from './read-labels.js';
import { calibrationText } from './text.js';

export interface CalibrateOptions extends GatewayOptions, FormatOption {
  readonly file?: string;
  readonly labels?: string;
  readonly labelsFrom?: LabelSource;
  readonly since?: string;
  readonly until?: string;
  readonly metric?: string;
  readonly gateMetrics?: string[];
  readonly targetPrecision: number;
  readonly windows?: number[];
  readonly targets?: number[];
  readonly gains?: number[];
  readonly drops?: number[];
  readonly plot?: string;
}

/** @throws CommandError 1 without scores, 2 or 3 for a file that cannot be used */
export async function runCalibrate(options: CalibrateOptions): Promise<void> {
  const { plot, labels: labelsFile, labelsFrom, metric, gateMetrics, targetPrecision } = options;
  checkOptions(options);
  const fileLabels = labelsFile === undefined ? undefined : await readLabels(labelsFile);
  const collected = options.file === undefined ? await fromGateway(options) : await fromFile(options.file);
  const more = { targetPrecision, grid: gridOf(options), metric, gateMetrics, labelsFrom, fileLabels };
  const calibration = calibrationOf(collected, more);
  if (calibration.report.session_count === 0) throw new CommandError(exitCodes.finding, noScores(options));
  if (calibration.labels.from.length > 0 && calibration.labels.sessions === 0)
    say('none of the sessions with scores is labelled: there is no precision or recall');
  const { report, histograms: _, ...rest } = calibration;
  await answer({ ...report, ...rest }, options, () => calibrationText(calibration));
  if (plot !== undefined) await writePlot(plot, plotOf(calibration));
}

/** Before anything is read. */
function checkOptions({ plot, file, labelsFrom }: CalibrateOptions): void {
  if (plot !== undefined && !/\.svg$/i.test(plot))
    throw new CommandError(exitCodes.usage, `${plot}: the plot is an SVG; name a file that ends in .svg`);
  if (file !== undefined && labelsFrom === 'evalset')
    throw new CommandError(exitCodes.usage, '--labels-from evalset: a file has no eval set; give --labels FILE');
}

/** Outcomes are needed as labels even when another metric is asked for. */
function fromGateway(options: CalibrateOptions): Promise<Collected> {
  const { since, until, metric, labelsFrom } = options;
  return readFromGateway(options, { since, until, metric: labelsFrom === 'outcomes' ? undefined : metric });
}

async function fromFile(file: string): Promise<Collected> {
  const settings = projectSettings.parse(loadSettings().projects);
  return { source: 'file', sessions: await readScoresFile(file), settings, cases: new Map(), cut: 0 };
}

function gridOf({ windows, targets, gains, drops }: CalibrateOptions): GateGrid {
  return {
    gate_window: windows ?? defaultGrid.gate_window,
    gate_target: targets ?? defaultGrid.gate_target,
    gate_gain: gains ?? defaultGrid.gate_gain,
    gate_drop: drops ?? defaultGrid.gate_drop,
  };
}

function noScores({ file, metric, since, until }: CalibrateOptions): string {
  const filtered = metric ?? since ?? until;
  const where = file ?? 'this project';
  const why = filtered === undefined ? '' : ' that --metric, --since and --until let through';
  return `no scores in ${where}${why}: ${file === undefined ? 'import or send turns first, or give a file with --file' : 'each line needs session_id and value or values'}`;
}
