import { sanitize } from '#domain/text';
import type { NoiseReport } from './noise-report.js';

/** The noise of a judge for people. */
export function noiseText(report: NoiseReport): string {
  return [headText(report), spreadText(report), dropText(report), ...restText(report), costText(report)].join('\n\n');
}

function headText({ metric, model, traces, repeat, noise }: NoiseReport): string {
  return `${plain(metric)} by ${plain(model)}: ${traces.sampled} of ${traces.found} traces, each judged ${repeat} times; ${noise.values} values of ${noise.traces} traces compare`;
}

function spreadText({ noise, threshold }: NoiseReport): string {
  const { standard_deviation: deviation, median_range: median, largest_range: largest, flip_share: flips } = noise;
  return [
    `  standard deviation ${short(deviation)} of one value`,
    `  values of one trace differ by ${short(median)} (median), ${short(largest)} at most`,
    `  ${percent(flips)} of the traces have values on both sides of the threshold ${threshold}`,
  ].join('\n');
}

function dropText({ metric, gate_drop: drop, noise }: NoiseReport): string {
  const { suggested_gate_drop: suggested } = noise;
  if (suggested >= 1)
    return 'gate_drop: none is large enough. Raise judge_samples, or let another model or evaluator make this metric.';
  const at = `gate_drop: at least ${short(suggested)}, or noise alone fires regressions`;
  if (drop.in_force === null) return `${at}. It is not in tier 1 as things are set, so its values do not go through the gate.`;
  if (drop.in_force >= suggested) return `${at}; ${drop.in_force} is in force, which will do.`;
  const entry = `gate_overrides.${metric}@judge=${JSON.stringify(drop.override)}`;
  return `${at}; ${drop.in_force} is in force, which is too small. To set it:\n  $ fleetmend settings set '${entry}'`;
}

function restText({ without_value: codes, unsteady, unanswered, traces }: NoiseReport): string[] {
  const without = Object.entries(codes).map(([code, count]) => `${count} ${code}`);
  const lines = [
    ...(without.length === 0 ? [] : [`Judgements without a value: ${without.join(', ')}.`]),
    ...(unsteady === 0 ? [] : [`${unsteady} traces had a value at some times and none at others.`]),
    ...(unanswered === 0 ? [] : [`${unanswered} judgements got no answer from the endpoint.`]),
    ...(traces.unreadable === 0 ? [] : [`${traces.unreadable} lines of the file cannot be read.`]),
  ];
  return lines.length === 0 ? [] : [lines.join('\n')];
}

function costText({ usage: { calls, tokens_in: input, tokens_out: output, cost_usd: cost } }: NoiseReport): string {
  const dollars = cost === null ? 'no price is known (model_prices)' : `$${cost.toFixed(4)}`;
  return `This took ${calls} calls, ${input} tokens in, ${output} out: ${dollars}. It is not in the ledger of \`fleetmend costs\`.`;
}

function short(value: number): string {
  return value.toFixed(3);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Names come from outside. */
function plain(name: string): string {
  return sanitize(name, { markers: [] }).replace(/\s+/g, ' ');
}
