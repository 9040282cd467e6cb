import {
  answerArmLine,
  evaluateTrial,
  familywiseAlpha,
  summarise,
  trialDefaults,
  type Arm,
  type Interval,
  type LiveCounts,
  type Observation,
  type TrialContext,
  type TrialSettings,
} from '#domain/evidence';
import { configOf, fieldsOf, isFields, listOf, numberOf, objectOf, textOf, type Fields } from './shapes.js';

const EXAMPLE = '{"kind": "live", "observations": [{"arm": "treatment", "breached": false}]}';

const SETTING_KINDS = {
  trial_alpha: 'number',
  trial_alpha_harm: 'number',
  rule_promote_margin: 'number',
  trial_max_sessions: 'number',
  trial_max_days: 'number',
} as const;

const ALLOCATION = 0.5;

/** What is known of a trial. Logarithms are natural; an effect is positive when the rule helps. */
export interface TrialAnswer {
  /** After all observations; with `trace` after each of them. */
  readonly logE: number | readonly number[];
  readonly logEHarm: number | readonly number[];
  /** The first that was not pending. */
  readonly verdict: 'promote' | 'retire' | 'pending';
  readonly reason: string | null;
  /** After how many observations it fell; null while pending, and when time alone brought it. */
  readonly decided_at: number | null;
  /** As they were when it fell. */
  readonly at_verdict: { readonly logE: number; readonly logEHarm: number };
  readonly effect: number | null;
  readonly effects: { readonly live: number | null; readonly replay: number | null };
  readonly effect_interval: Interval | null;
  readonly log_e: { readonly live: number; readonly replay: number };
  readonly sessions: LiveCounts;
  /** The arms are not as large as their allocation says: then nothing of the rest can be relied on. */
  readonly sample_ratio_mismatch: boolean;
  readonly pairs: number;
  /** A guess, by how fast the evidence grew; null while it does not grow. */
  readonly sessions_needed: number | null;
}

/** `{kind: live|pairs|trial, ...}` -> the evidence and the verdict; `{kind: arm, ...}` -> `{u, arm}`. */
export function answerTrial(trace: boolean): (line: unknown) => TrialAnswer | ReturnType<typeof answerArmLine> {
  return (line) => {
    const fields = fieldsOf(line, EXAMPLE);
    if (fields.kind === 'arm') return armOfLine(fields);
    return evaluate(fields, trace);
  };
}

function armOfLine(fields: Fields): ReturnType<typeof answerArmLine> {
  return answerArmLine({
    ruleId: textOf(fields.ruleId, 'ruleId'),
    sessionId: textOf(fields.sessionId, 'sessionId'),
    salt: textOf(fields.salt, 'salt'),
    allocation: shareOf(fields, 'allocation', ALLOCATION),
  });
}

function evaluate(fields: Fields, trace: boolean): TrialAnswer {
  const settings = settingsOf(fields);
  const { verdict, decidedAt, state, totals } = evaluateTrial(observationsOf(fields), {
    allocation: shareOf(fields, 'allocation', ALLOCATION),
    settings,
    context: contextOf(fields),
  });
  const { evidence, effect, interval, sampleRatioMismatch } = summarise(state, settings);
  const last = totals.at(-1) ?? { help: 0, harm: 0 };
  return {
    logE: trace ? totals.map(({ help }) => help) : last.help,
    logEHarm: trace ? totals.map(({ harm }) => harm) : last.harm,
    verdict: verdict.verdict,
    reason: 'reason' in verdict ? verdict.reason : null,
    decided_at: decidedAt,
    at_verdict: { logE: evidence.total.help, logEHarm: evidence.total.harm },
    effect: evidence.live.help >= evidence.replay.help && effect.live !== null ? effect.live : effect.replay,
    effects: effect,
    effect_interval: interval,
    log_e: { live: evidence.live.help, replay: evidence.replay.help },
    sessions: state.sessions,
    sample_ratio_mismatch: sampleRatioMismatch,
    pairs: state.pairs.pairs,
    sessions_needed: verdict.verdict === 'pending' ? verdict.sessionsNeeded : null,
  };
}

/** `alpha` stands for `trial_alpha`; `candidates` shares it among the candidates in trial. */
export function settingsOf(fields: Fields): TrialSettings {
  const config = { ...trialDefaults, ...configOf<TrialSettings>(fields, SETTING_KINDS) };
  const alpha = shareOf(fields, 'alpha', config.trial_alpha);
  const settings = { ...config, trial_alpha: familywiseAlpha(alpha, numberIn(fields, 'candidates', 1)) };
  for (const name of ['trial_alpha', 'trial_alpha_harm'] as const) shareOf({ [name]: settings[name] }, name, 0);
  return settings;
}

function contextOf(fields: Fields): TrialContext {
  return {
    ageDays: numberIn(fields, 'age_days', 0),
    chosenWins: fields.chosen_wins === undefined ? [] : listOf(fields, 'chosen_wins', textOf),
    winMetrics: numberIn(fields, 'win_metrics', 0),
  };
}

function observationsOf(fields: Fields): Observation[] {
  switch (fields.kind) {
    case 'live':
      return listOf(fields, 'observations', sessionOf);
    case 'pairs':
      return listOf(fields, 'deltas', (value, path) => ({ kind: 'pair', delta: numberOf(value, path) }));
    case 'trial':
      return listOf(fields, 'observations', anyObservation);
    default:
      throw new TypeError(`kind: ${JSON.stringify(fields.kind)} is none of "live", "pairs", "trial" and "arm"`);
  }
}

/** A session, `{delta}` of a pair on a failure case, or `{case, deltas}` of a pair on a win. */
function anyObservation(value: unknown, path: string): Observation {
  const one = objectOf(value, path);
  if ('delta' in one) return { kind: 'pair', delta: numberOf(one.delta, `${path}.delta`) };
  if (!('deltas' in one)) return sessionOf(one, path);
  const deltas = Object.entries(objectOf(one.deltas, `${path}.deltas`));
  return {
    kind: 'win_pair',
    caseId: textOf(one.case, `${path}.case`),
    deltas: Object.fromEntries(deltas.map(([metric, delta]) => [metric, numberOf(delta, `${path}.deltas.${metric}`)])),
  };
}

function sessionOf(value: unknown, path: string): Observation {
  const { arm, breached } = isFields(value) ? value : {};
  if (arm !== 'treatment' && arm !== 'control') throw new TypeError(`${path}.arm: "treatment" or "control" is needed`);
  if (typeof breached !== 'boolean') throw new TypeError(`${path}.breached: true or false is needed`);
  return { kind: 'session', arm: arm satisfies Arm, breached };
}

export function numberIn(fields: Fields, name: string, otherwise: number): number {
  return fields[name] === undefined ? otherwise : numberOf(fields[name], name);
}

/** A number strictly between 0 and 1. */
export function shareOf(fields: Fields, name: string, otherwise: number): number {
  const value = numberIn(fields, name, otherwise);
  if (value > 0 && value < 1) return value;
  throw new RangeError(`${name}: a number between 0 and 1 is needed, not ${value}`);
}
