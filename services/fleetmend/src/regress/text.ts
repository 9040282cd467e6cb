import type { RegressionReport, RegressionRun } from '#contracts';
import { listed } from '../output/answer.js';
import { when } from '../output/table.js';

const signed = (delta: number): string => `${delta >= 0 ? '+' : ''}${delta.toFixed(2)}`;

/** `tool_correctness +0.62, coherence -0.10`; the largest change first. */
function changes(deltas: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(deltas).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  return sorted.map(([metric, delta]) => `${metric} ${signed(delta)}`).join(', ');
}

const COUNTED = ['improved', 'unchanged', 'regressed', 'skipped'] as const;

function summary({ counts, pass_at_k: pass, k }: RegressionRun): string {
  const parts = COUNTED.map((status) => `${counts[status] ?? 0} ${status}`);
  return [...parts, ...(pass === null ? [] : [`pass^${k} ${(pass * 100).toFixed(1)} %`])].join(', ');
}

/** Whether anything regressed: what a build should fail for. */
export function isClean({ counts }: RegressionRun): boolean {
  return (counts.regressed ?? 0) === 0;
}

export function reportText(report: RegressionReport): string {
  const cases = listed(
    report.cases,
    [
      { title: 'case', of: ({ case_id: id }) => id },
      { title: 'kind', of: ({ kind }) => kind },
      { title: 'run', of: ({ repetition }) => repetition, right: true },
      { title: 'result', of: ({ status }) => status ?? 'waits' },
      { title: 'why', of: ({ reason, deltas }) => reason ?? changes(deltas) },
    ],
    'no cases',
  );
  const verdict = report.state !== 'done' ? report.state.toUpperCase() : isClean(report) ? 'CLEAN' : 'REGRESSED';
  return `${cases}\n\n${report.id}: ${summary(report)}\n${verdict}`;
}

export function runsText(runs: readonly RegressionRun[]): string {
  return listed(
    runs,
    [
      { title: 'run', of: ({ id }) => id },
      { title: 'began', of: ({ created_at: at }) => when(at) },
      { title: 'state', of: ({ state }) => state },
      { title: 'done', of: ({ done, runs: all }) => `${done}/${all}`, right: true },
      { title: 'results', of: summary },
    ],
    'no regression run yet: begin one with `fleetmend regress run`',
  );
}
