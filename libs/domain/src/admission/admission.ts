/** What may be spent on a project's turns (BEHAVIOUR 1.3). Times are seconds. */
export interface AdmissionSettings {
  /** Every Nth turn per session; less than 2 means every turn. */
  readonly eval_sample_every: number;
  /** Seconds since the session's last admitted turn; exactly that long after is admitted. */
  readonly session_min_eval_interval_s: number;
  /** Admitted turns per budget window; 0 means no budget. */
  readonly max_evals: number;
}

export interface SessionAdmission {
  readonly turns: number;
  readonly lastAdmittedAt: number | null;
}

export type SkipReason = 'budget' | 'sampling' | 'rate';

export const newcomer: SessionAdmission = { turns: 0, lastAdmittedAt: null };

/**
 * Decides one turn: budget first, then sampling, then rate. `spent` is how many turns the project's window has admitted.
 * The session's counter counts every turn, admitted or not.
 */
export function admit(
  session: SessionAdmission,
  now: number,
  spent: number,
  settings: AdmissionSettings,
): { session: SessionAdmission; skip: SkipReason | null } {
  const turns = session.turns + 1;
  const skip = skipReason({ ...session, turns }, now, spent, settings);
  return { session: { turns, lastAdmittedAt: skip === null ? now : session.lastAdmittedAt }, skip };
}

function skipReason(
  { turns, lastAdmittedAt }: SessionAdmission,
  now: number,
  spent: number,
  settings: AdmissionSettings,
): SkipReason | null {
  const interval = settings.session_min_eval_interval_s;
  if (settings.max_evals > 0 && spent >= settings.max_evals) return 'budget';
  if ((turns - 1) % Math.max(1, settings.eval_sample_every) !== 0) return 'sampling';
  // A turn may be older than the last one admitted: it was delivered late. Without an interval nothing comes too soon.
  if (interval > 0 && lastAdmittedAt !== null && now - lastAdmittedAt < interval) return 'rate';
  return null;
}

const everything: AdmissionSettings = { eval_sample_every: 1, session_min_eval_interval_s: 0, max_evals: 0 };

export interface AdmitLine {
  readonly config?: Partial<AdmissionSettings & { max_evals_per_run: number }> | undefined;
  readonly turns: readonly { session: string; t: number }[];
}

/** A fleet's turns through admission; of a spent budget only the first skip is journaled. */
export function replayAdmission({ config, turns }: AdmitLine): { admitted: boolean[]; budget_skip_events: number } {
  const settings = { ...everything, ...config, max_evals: config?.max_evals ?? config?.max_evals_per_run ?? 0 };
  const sessions = new Map<string, SessionAdmission>();
  let spent = 0;
  let budgetSkips = 0;
  const admitted = turns.map(({ session, t }) => {
    const { session: after, skip } = admit(sessions.get(session) ?? newcomer, t, spent, settings);
    sessions.set(session, after);
    if (skip === null) spent += 1;
    if (skip === 'budget') budgetSkips += 1;
    return skip === null;
  });
  return { admitted, budget_skip_events: Math.min(1, budgetSkips) };
}
