import { median } from 'simple-statistics';
import { foldValue, type GateSettings, type GateState } from '../gate/index.js';
import { confusionOf, ratiosOf, type Confusion, type Ratios } from './confusion.js';
import type { Labels } from './report.js';
import type { StoredSession, StoredTrack } from './series.js';

/** The gate settings of a track; null: its values may not fire. */
export type GatePlan = (track: StoredTrack) => GateSettings | null;

/** What a gate would have done to stored series: "what would have paged me". */
export interface GateOutcome {
  /** Sessions with a track that may fire. */
  readonly sessions: number;
  readonly fired: number;
  /** Sessions per condition; one session may be in both. */
  readonly stalled: number;
  readonly regressed: number;
  /** Of the sessions that fired: the turn of the first firing, and how many turns the session went on after it. Null: none fired. */
  readonly median_first_turn: number | null;
  readonly median_turns_before_end: number | null;
  /** Over labelled sessions; null when none is. */
  readonly labeled: (Confusion & Ratios) | null;
}

interface SessionFirings {
  readonly session: string;
  readonly lastTurn: number;
  readonly firstTurn: number | null;
  readonly stalled: boolean;
  readonly regressed: boolean;
}

/** Replays every session through the gate that `plan` gives each of its tracks, with the gate's own fold. */
export function replaySessions(sessions: readonly StoredSession[], plan: GatePlan, labels: Labels | null): GateOutcome {
  const replayed = sessions.flatMap((session) => replaySession(session, plan) ?? []);
  const early = replayed.flatMap(({ firstTurn, lastTurn }) => (firstTurn === null ? [] : [{ firstTurn, lastTurn }]));
  return {
    sessions: replayed.length,
    fired: early.length,
    stalled: replayed.filter(({ stalled }) => stalled).length,
    regressed: replayed.filter(({ regressed }) => regressed).length,
    median_first_turn: early.length === 0 ? null : median(early.map(({ firstTurn }) => firstTurn)),
    median_turns_before_end: early.length === 0 ? null : median(early.map(({ firstTurn, lastTurn }) => lastTurn - firstTurn)),
    labeled: labelledOutcome(replayed, labels),
  };
}

function labelledOutcome(replayed: readonly SessionFirings[], labels: Labels | null): GateOutcome['labeled'] {
  const pairs = replayed.flatMap(({ session, firstTurn }): [boolean, boolean][] => {
    const failed = labels?.get(session);
    return failed === undefined ? [] : [[firstTurn !== null, failed]];
  });
  if (pairs.length === 0) return null;
  const confusion = confusionOf(pairs);
  return { ...confusion, ...ratiosOf(confusion) };
}

/** Null: no track of it may fire. */
function replaySession({ session, lastTurn, tracks }: StoredSession, plan: GatePlan): SessionFirings | null {
  const gated = tracks.flatMap((track) => {
    const settings = plan(track);
    return settings === null ? [] : [replayTrack(track, settings)];
  });
  if (gated.length === 0) return null;
  const turns = gated.flatMap(({ firstTurn }) => firstTurn ?? []);
  return {
    session,
    lastTurn,
    firstTurn: turns.length === 0 ? null : Math.min(...turns),
    stalled: gated.some(({ stalled }) => stalled),
    regressed: gated.some(({ regressed }) => regressed),
  };
}

function replayTrack({ turns, values }: StoredTrack, settings: GateSettings): Omit<SessionFirings, 'session' | 'lastTurn'> {
  let state: GateState | null = null;
  let firstTurn: number | null = null;
  let [stalled, regressed] = [false, false];
  for (const [at, value] of values.entries()) {
    const verdict = foldValue(state, value, settings);
    state = verdict.state;
    stalled ||= verdict.stalled;
    regressed ||= verdict.regressed;
    if (firstTurn === null && (verdict.stalled || verdict.regressed)) firstTurn = turns[at] ?? at;
  }
  return { firstTurn, stalled, regressed };
}
