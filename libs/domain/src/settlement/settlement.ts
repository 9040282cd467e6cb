import type { WaitsFor } from '#contracts';

/** An episode of the session, up to the turn, that is open or under repair; and what repair knows of it. */
export interface LiveEpisode {
  /** Seconds since it was opened. */
  readonly age_s: number;
  /** Its own place in the queue of repairs, or that of the episode that speaks for its incident; null when neither has one. */
  readonly work: { readonly state: string; readonly waits_for: string | null; readonly due_in_s: number } | null;
}

/** What the tables say of a turn that somebody waits for. */
export interface SettleState {
  readonly known: boolean;
  /** Why it is not scored, or not folded: there is nothing to wait for. */
  readonly skipped: string | null;
  /** Every tier that was asked for has answered, or its time is over. */
  readonly reported: boolean;
  /** The notices say what the reports up to the turn say. */
  readonly noticed: boolean;
  /** A repair run of the session, up to the turn, has ended since the question was asked. */
  readonly run_ended: boolean;
  /** Oldest first. */
  readonly episodes: readonly LiveEpisode[];
}

/** `waiting`: what is not done; of something that is settled, what will not be done soon. */
export interface Settlement {
  readonly settled: boolean;
  readonly waiting: WaitsFor | null;
}

/** Repair takes an episode up within moments. One that it has not after this is not going to be repaired while one waits. */
const TAKEN_UP_WITHIN_S = 5;

/** What an episode can wait for that no run ends. */
const OBSTACLES = ['hourly_limit', 'cost_limit', 'observe_only', 'model', 'operator'] as const;

/**
 * Whether a turn is settled (BEHAVIOUR 12): reported, its notices decided, and nothing left to repair that will be within `leftS`
 * seconds. One repair run is waited for at most: whatever it came to, the next one is another question's.
 */
export function settlementOf(state: SettleState, leftS: number): Settlement {
  if (!state.known) return { settled: false, waiting: 'turn' };
  if (state.skipped !== null) return { settled: true, waiting: null };
  if (!state.reported) return { settled: false, waiting: 'report' };
  if (!state.noticed) return { settled: false, waiting: 'notices' };
  const waits = state.episodes.map((episode) => waitOf(episode, leftS));
  const held = waits.find(({ settled }) => !settled);
  if (held === undefined || state.run_ended) return { settled: true, waiting: (held ?? waits[0])?.waiting ?? null };
  return held;
}

function waitOf({ work, age_s: age }: LiveEpisode, leftS: number): Settlement {
  if (work === null) {
    const lost = age >= TAKEN_UP_WITHIN_S;
    return { settled: lost, waiting: lost ? 'no_repair_service' : 'repair' };
  }
  if (work.state === 'running') return { settled: false, waiting: 'repair' };
  if (work.state === 'blocked') return { settled: true, waiting: 'operator' };
  const obstacle = OBSTACLES.find((one) => one === work.waits_for);
  if (obstacle !== undefined) return { settled: true, waiting: obstacle };
  if (work.waits_for === 'backoff') return { settled: work.due_in_s > leftS, waiting: 'backoff' };
  return { settled: false, waiting: 'repair' };
}
