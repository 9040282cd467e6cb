import type { Mark, Spec } from 'vega';
import type { TrialView } from '#contracts';

const [WIDTH, HEIGHT] = [640, 280];
/** Told apart in grey and by the colour-blind: help dark green, harm dark orange. */
const [HELP, HARM, INK] = ['#1b7837', '#d95f02', '#333333'];

/** A trial's evidence over its observations against its bounds, as a Vega drawing. */
export function trialPlot(trial: TrialView): Spec {
  const values = trial.course.map(({ seq, help, harm }) => ({ seq, help, harm }));
  const logs = values.flatMap(({ help, harm }) => [help, harm]);
  const domain = [Math.min(0, ...logs), Math.max(trial.bound, trial.bound_harm, ...logs)];
  return {
    ...{ width: WIDTH, height: HEIGHT, padding: 12, background: 'white' },
    title: { text: `Trial of ${trial.rule_id}: ${trial.verdict}`, color: INK },
    data: [{ name: 'course', values }],
    scales: [
      { name: 'x', type: 'linear', range: 'width', domain: [0, Math.max(1, values.at(-1)?.seq ?? 1)] },
      { name: 'y', type: 'linear', range: 'height', domain, nice: true },
      { name: 'colour', type: 'ordinal', domain: ['it helps', 'it harms'], range: [HELP, HARM] },
    ],
    axes: [
      { orient: 'bottom', scale: 'x', title: 'observations counted' },
      { orient: 'left', scale: 'y', title: 'ln E', grid: true },
    ],
    legends: [{ stroke: 'colour', orient: 'bottom-right', title: 'evidence that', symbolType: 'stroke' }],
    marks: [
      line('help', HELP),
      line('harm', HARM),
      bound(trial.bound, HELP, 'promote'),
      bound(trial.bound_harm, HARM, 'retire: harmful'),
    ].flat(),
  };
}

function line(field: 'help' | 'harm', colour: string): Mark[] {
  const enter = {
    ...{ x: { scale: 'x', field: 'seq' }, y: { scale: 'y', field }, stroke: { value: colour } },
    ...{ strokeWidth: { value: 2 }, interpolate: { value: 'step-after' } },
  };
  return [{ type: 'line', from: { data: 'course' }, encode: { enter } } as Mark];
}

function bound(at: number, colour: string, text: string): Mark[] {
  const y = { scale: 'y', value: at };
  return [
    {
      type: 'rule',
      encode: { enter: { x: { value: 0 }, x2: { value: WIDTH }, y, stroke: { value: colour }, strokeDash: { value: [4, 3] } } },
    },
    {
      type: 'text',
      encode: {
        enter: {
          x: { value: 4 },
          y: { ...y, offset: -4 },
          text: { value: text },
          fill: { value: colour },
          fontSize: { value: 10 },
        },
      },
    },
  ];
}
