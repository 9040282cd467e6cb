import { median } from 'simple-statistics';
import { JudgementError } from './judgement.js';
import type { Verdict } from './metric.js';

export interface SampleOptions {
  /** How often to ask, 1 or more. */
  readonly samples: number;
  readonly threshold: number;
  /** Ask twice more when the value is below the threshold, and let the median of all decide. */
  readonly confirmBreach: boolean;
}

const CONFIRMATIONS = 2;

/**
 * Asks for verdicts and gives the median of their values, with the reason of the first one nearest to it. Verdicts that
 * could not be made are left out; when none is left, the first failure is thrown. Errors of another kind are thrown at once.
 */
export async function medianVerdict(ask: () => Promise<Verdict>, options: SampleOptions): Promise<Verdict> {
  const verdicts: Verdict[] = [];
  const failures: JudgementError[] = [];
  await repeat(Math.max(1, options.samples), ask, verdicts, failures);
  const first = settled(verdicts, failures);
  if (!options.confirmBreach || first.value >= options.threshold) return first;
  await repeat(CONFIRMATIONS, ask, verdicts, failures);
  return settled(verdicts, failures);
}

async function repeat(
  times: number,
  ask: () => Promise<Verdict>,
  verdicts: Verdict[],
  failures: JudgementError[],
): Promise<void> {
  for (let asked = 0; asked < times; asked += 1) {
    try {
      verdicts.push(await ask());
    } catch (error) {
      if (!(error instanceof JudgementError)) throw error;
      failures.push(error);
      // What is too large once is too large always.
      if (error.code === 'too_large') return;
    }
  }
}

function settled(verdicts: readonly Verdict[], failures: readonly JudgementError[]): Verdict {
  const [first, ...others] = verdicts;
  if (first === undefined) throw failures[0] ?? new JudgementError('no_verdict', 'No verdict was asked for.');
  const value = median(verdicts.map((verdict) => verdict.value));
  const distance = (verdict: Verdict): number => Math.abs(verdict.value - value);
  return { ...others.reduce((best, verdict) => (distance(verdict) < distance(best) ? verdict : best), first), value };
}
