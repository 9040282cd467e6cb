import type { TrialPoint, TrialView } from '#contracts';
import { when } from '../output/table.js';

const [WIDTH, HEIGHT] = [60, 10];
const DOT = '•';
const BOUND = '─';

/** A trial for people: where it stands, and a chart of its evidence against its bounds. */
export function trialText(trial: TrialView): string {
  const { sessions, pairs, effect, interval } = trial;
  const arm = ({ sessions: n, breached }: { sessions: number; breached: number }): string =>
    `${breached} of ${n} breached${n === 0 ? '' : ` (${percent(breached / n)})`}`;
  const inconclusive = Object.entries(pairs.inconclusive).map(([reason, n]) => `${n} ${reason}`);
  return [
    `${trial.rule_id}: ${verdictText(trial)}`,
    `began ${when(trial.started_at)}${trial.decided_at === null ? '' : `, decided ${when(trial.decided_at)}`}`,
    `evidence that it helps: ${evidence(trial.evidence.total.help, trial.bound)}; that it harms: ${evidence(trial.evidence.total.harm, trial.bound_harm)}`,
    `with the rule: ${arm(sessions.treatment)}; without: ${arm(sessions.control)}`,
    `effect on the breach rate: ${effect.live === null ? 'not known yet' : signed(effect.live)}${interval === null ? '' : ` (between ${signed(interval.low)} and ${signed(interval.high)})`}`,
    `replays: ${pairs.counted} pairs counted${pairs.tape_share === null ? '' : `, ${percent(pairs.tape_share)} of their tool calls from tape`}${effect.replay === null ? '' : `, mean gain ${signed(effect.replay)}`}${inconclusive.length === 0 ? '' : `; without a result: ${inconclusive.join(', ')}`}`,
    `sessions that came to it: ${trial.entered}, ${trial.open} still open, ${trial.waiting} waiting for earlier ones`,
    ...(trial.sessions_needed === null ? [] : [`at this pace about ${trial.sessions_needed} more sessions decide`]),
    ...(trial.sample_ratio_mismatch
      ? [
          '! the arms are not as large as they should be: something treats sessions differently before they read (docs/evidence.md)',
        ]
      : []),
    ...(trial.course.length === 0 ? [] : ['', chart(trial.course, trial.bound)]),
  ].join('\n');
}

function verdictText({ verdict, reason, source }: TrialView): string {
  const why = [reason, source === null ? null : `by ${source === 'live' ? 'live sessions' : 'replays'}`].filter(
    (part) => part !== null,
  );
  return `${verdict}${why.length === 0 ? '' : ` (${why.join(', ')})`}`;
}

const evidence = (log: number, bound: number): string =>
  `E = ${Math.exp(log).toPrecision(3)} of ${Math.exp(bound).toPrecision(3)}`;
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
const signed = (value: number): string => `${value >= 0 ? '+' : ''}${value.toFixed(2)}`;

/** ln E over the observations, with the bound as a line. */
export function chart(course: readonly TrialPoint[], bound: number): string {
  const logs = course.map(({ help }) => help);
  const [low, high] = [Math.min(0, ...logs), Math.max(bound, ...logs)];
  const row = (log: number): number => HEIGHT - Math.round(((log - low) / (high - low)) * HEIGHT);
  const grid = Array.from({ length: HEIGHT + 1 }, () => Array.from({ length: WIDTH }, () => ' '));
  grid[row(bound)]?.fill(BOUND);
  for (let column = 0; column < WIDTH; column += 1) {
    const point = course[Math.min(course.length - 1, Math.floor((column / WIDTH) * course.length))];
    const line = point === undefined ? undefined : grid[row(point.help)];
    if (line !== undefined) line[column] = DOT;
  }
  const label = (at: number): string => (at === row(bound) ? 'won' : at === row(0) ? 'E=1' : '').padStart(4);
  return grid.map((cells, at) => `${label(at)} │${cells.join('').trimEnd()}`).join('\n');
}
