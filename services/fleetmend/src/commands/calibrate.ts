import { InvalidArgumentError, Option, type Command } from 'commander';
import type { NoiseOptions } from '../calibrate/noise/run-noise.js';
import type { CalibrateOptions } from '../calibrate/run-calibrate.js';
import { example, integer, names, number, withFormat, withGateway } from './options.js';

export function registerCalibrate(program: Command): void {
  const command = withGateway(program.command('calibrate'))
    .enablePositionalOptions()
    .description(
      'thresholds and gate settings against stored scores: what would have breached and fired, how early, and with labels how rightly',
    )
    .addOption(
      new Option(
        '--file <file>',
        'scores from JSONL (- for standard input) instead of the gateway: {session_id, turn_index, metric, source?, value} or {session_id, values}',
      ).conflicts(['since', 'until']),
    )
    .option(
      '--labels <file>',
      'which sessions failed: JSON map, JSON list or CSV of session_id and failed; wins over --labels-from',
    )
    .addOption(
      new Option(
        '--labels-from <where>',
        'outcomes: failed when outcome_correct was below its threshold; evalset: when a case of the session is a failure',
      ).choices(['outcomes', 'evalset']),
    )
    .option('--since <time>', 'only sessions that began at this time or later (RFC 3339, or a number of s, ms, us or ns)')
    .option('--until <time>', 'only sessions that began before this time')
    .option('--metric <name>', 'only this metric')
    .option('--gate-metrics <a,b>', 'metrics to replay through the gate (default: tier1_metrics of the settings)', names)
    .option('--target-precision <share>', 'precision that a recommendation has to reach', share, 0.9)
    .option('--windows <a,b>', 'values of gate_window to try', numbers)
    .option('--targets <a,b>', 'values of gate_target to try', numbers)
    .option('--gains <a,b>', 'values of gate_gain to try', numbers)
    .option('--drops <a,b>', 'values of gate_drop to try', numbers)
    .option('--plot <file.svg>', 'draw histograms, thresholds and the gate as SVG')
    .action(async (options: CalibrateOptions) => {
      const { runCalibrate } = await import('../calibrate/run-calibrate.js');
      await runCalibrate(options);
    });
  example(
    command,
    'fleetmend calibrate --labels-from outcomes --since 2026-11-01T00:00:00Z --plot calibration.svg',
    'fleetmend calibrate --file scores.jsonl --labels labels.csv --windows 3,5,8 --drops 0.1,0.2,0.3',
  );
  registerNoise(command);
}

const [REPEAT, SAMPLE] = [5, 20];

function registerNoise(calibrate: Command): void {
  const command = withFormat(calibrate.command('noise'))
    .description(
      'how far a judge disagrees with itself: asks it again and again for the same traces, and says how large gate_drop has to be',
    )
    .requiredOption(
      '--turns <file>',
      'turns with their traces: JSONL, or a recording that `turns import` takes (- for standard input)',
    )
    .requiredOption('--metric <name>', 'a judged metric, or a judge of the settings')
    .option('--repeat <n>', 'how often each trace is judged', integer(2, 100), REPEAT)
    .option('--sample <n>', 'how many traces of the file are judged', integer(1, 10_000), SAMPLE)
    .option('--judge-model <model>', 'the model (default: judge_model of the settings)')
    .option('--tools <file>', 'tool catalogue of recordings that have none: a JSON list')
    .action(async (options: NoiseOptions) => {
      const { runNoise } = await import('../calibrate/noise/run-noise.js');
      await runNoise(options);
    });
  example(command, 'fleetmend calibrate noise --turns turns.jsonl --metric task_completion --judge-model gpt-4o-mini');
}

function share(text: string): number {
  const value = number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('It has to be a number from 0 to 1.');
}

function numbers(text: string): number[] {
  const values = names(text).map(number);
  if (values.length > 0) return [...new Set(values)];
  throw new InvalidArgumentError('It has to be at least one number.');
}
