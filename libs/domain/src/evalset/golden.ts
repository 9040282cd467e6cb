import { captureCase, matchingCases, type CaseKind, type EvalSet } from './evalset.js';

/** A line of the golden file `evalset`. `#n` is the nth case created, from 0. */
export interface EvalSetLine {
  readonly eval_case_max: number;
  readonly steps: readonly { readonly session: string; readonly kind: CaseKind; readonly signature: readonly string[] }[];
  /** Its keys are the signatures asked for. */
  readonly matching_newest_first: Readonly<Record<string, unknown>>;
}

export interface EvalSetAnswer {
  readonly steps: readonly { readonly result: string | null; readonly cases_after: readonly string[] }[];
  readonly matching_newest_first: Readonly<Record<string, readonly string[]>>;
}

export function answerEvalSetLine({ eval_case_max: max, steps, matching_newest_first: asked }: EvalSetLine): EvalSetAnswer {
  let set: EvalSet = [];
  let created = 0;
  const answers = steps.map(({ session, kind, signature }) => {
    const offered = { id: `#${created}`, session, kind, signature, baseline: {}, replayInput: null, notes: '' };
    const taken = captureCase(set, offered, max);
    const { outcome } = taken;
    ({ set } = taken);
    if (outcome.result === 'captured') created += 1;
    return { result: outcome.result === 'refused' ? null : outcome.case.id, cases_after: set.map(({ id }) => id) };
  });
  const matching = Object.keys(asked).map((one) => [one, matchingCases(set, [one]).map(({ id }) => id)] as const);
  return { steps: answers, matching_newest_first: Object.fromEntries(matching) };
}
