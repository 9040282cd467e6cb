import type { GateSettings } from '../gate/index.js';
import { replaySessions, type GateOutcome, type GatePlan } from './gate-replay.js';
import type { Labels } from './report.js';
import { trackName, type StoredSession, type StoredTrack } from './series.js';

/** Values to try, per setting; every combination is replayed. */
export type GateGrid = { readonly [Name in keyof GateSettings]: readonly number[] };

/** 96 combinations around the defaults (5, 0.5, 0.02, 0.15): coarse, since few sessions tell fine steps apart. */
export const defaultGrid: GateGrid = {
  gate_window: [2, 3, 5, 8],
  gate_target: [0.3, 0.5, 0.7],
  gate_gain: [0.02, 0.1],
  gate_drop: [0.05, 0.15, 0.3, 0.5],
};

export interface GateTrial {
  readonly settings: GateSettings;
  readonly outcome: GateOutcome;
}

/** The combination to choose. `reached` false: none has the target precision, and this one comes nearest. */
export interface GateRecommendation extends GateTrial {
  readonly reached: boolean;
  /** Other combinations with the same precision and recall; the chosen one changes the fewest settings in force. */
  readonly ties: readonly GateSettings[];
}

export interface TrackCalibration {
  readonly metric: string;
  readonly source: string;
  /** Replayed as if its values may fire, also where a silent source is not allowed to yet. */
  readonly in_force: GateTrial;
  readonly grid: readonly GateTrial[];
  /** Null without labels, or when no combination fires in a failed session. */
  readonly recommendation: GateRecommendation | null;
}

export interface GateCalibration {
  /** All gated tracks together, as they are set now: what has paged. */
  readonly in_force: GateOutcome;
  /** The same with every recommendation that reaches the target in force; null when there is none. */
  readonly recommended: GateOutcome | null;
  /** Those recommendations, as the setting `gate_overrides` takes them: by `metric@source`. */
  readonly gate_overrides: Readonly<Record<string, GateSettings>>;
  readonly tracks: readonly TrackCalibration[];
}

type TrackId = Pick<StoredTrack, 'metric' | 'source'>;

export interface GateGridInput {
  readonly sessions: readonly StoredSession[];
  readonly labels: Labels | null;
  readonly grid: GateGrid;
  readonly targetPrecision: number;
  /** Whether values of this metric go through the gate at all (tier 1). */
  readonly isGated: (metric: string) => boolean;
  /** The settings in force for a track. */
  readonly settingsOf: (track: TrackId) => GateSettings;
  /** Whether a track may fire now; a silent source may not until it has a target of its own. */
  readonly mayFire: (track: TrackId) => boolean;
}

/** Every combination of a grid; the first setting varies slowest. */
export function combinations({ gate_window, gate_target, gate_gain, gate_drop }: GateGrid): GateSettings[] {
  return gate_window.flatMap((window) =>
    gate_target.flatMap((target) =>
      gate_gain.flatMap((gain) =>
        gate_drop.map((drop) => ({ gate_window: window, gate_target: target, gate_gain: gain, gate_drop: drop })),
      ),
    ),
  );
}

/**
 * Replays stored series through every combination, per track (settings are per metric and source, whose scales differ), and
 * recommends the one that reaches the target precision with the most recall. Tracks by name. The cost is values x combinations.
 */
export function calibrateGate(input: GateGridInput): GateCalibration {
  const { labels, isGated, settingsOf, mayFire } = input;
  const sessions = input.sessions.map((session) => ({
    ...session,
    tracks: session.tracks.filter(({ metric }) => isGated(metric)),
  }));
  const tracks = distinctTracks(sessions).map((track) => calibrateTrack(track, { ...input, sessions }));
  const chosen = new Map(
    tracks.flatMap(({ metric, source, recommendation }): [string, GateSettings][] =>
      recommendation?.reached === true ? [[trackName({ metric, source }), recommendation.settings]] : [],
    ),
  );
  const now: GatePlan = (track) => (mayFire(track) ? settingsOf(track) : null);
  const then: GatePlan = (track) => chosen.get(trackName(track)) ?? now(track);
  return {
    in_force: replaySessions(sessions, now, labels),
    recommended: chosen.size === 0 ? null : replaySessions(sessions, then, labels),
    gate_overrides: Object.fromEntries(chosen),
    tracks,
  };
}

function distinctTracks(sessions: readonly StoredSession[]): TrackId[] {
  const byName = new Map(
    sessions.flatMap(({ tracks }) => tracks.map(({ metric, source }) => [trackName({ metric, source }), { metric, source }])),
  );
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, track]) => track);
}

function calibrateTrack({ metric, source }: TrackId, input: GateGridInput): TrackCalibration {
  const sessions = input.sessions.map((session) => ({
    ...session,
    tracks: session.tracks.filter((track) => track.metric === metric && track.source === source),
  }));
  const trial = (settings: GateSettings): GateTrial => ({
    settings,
    outcome: replaySessions(sessions, () => settings, input.labels),
  });
  const in_force = trial(input.settingsOf({ metric, source }));
  const grid = combinations(input.grid).map(trial);
  const others = grid.filter(({ settings }) => changes(settings, in_force.settings) > 0);
  const recommendation = recommend([in_force, ...others], in_force.settings, input.targetPrecision);
  return { metric, source, in_force, grid, recommendation };
}

/**
 * Of the trials with at least one true positive: those that reach the target precision, then the most recall, the best precision,
 * the fewest changes to `inForce`, the first. When none reaches it, the best precision comes before recall.
 */
export function recommend(
  trials: readonly GateTrial[],
  inForce: GateSettings,
  targetPrecision: number,
): GateRecommendation | null {
  const useful = trials.flatMap(({ settings, outcome }) =>
    outcome.labeled !== null && outcome.labeled.tp > 0 ? [{ settings, outcome, ratios: outcome.labeled }] : [],
  );
  const reaching = useful.filter(({ ratios }) => ratios.precision >= targetPrecision);
  const reached = reaching.length > 0;
  const [first, second] = reached ? (['recall', 'precision'] as const) : (['precision', 'recall'] as const);
  const best = (reached ? reaching : useful).sort(
    (a, b) =>
      b.ratios[first] - a.ratios[first] ||
      b.ratios[second] - a.ratios[second] ||
      changes(a.settings, inForce) - changes(b.settings, inForce),
  );
  const [chosen, ...others] = best;
  if (chosen === undefined) return null;
  const ties = others.filter(
    ({ settings, ratios }) => sameRatios(ratios, chosen.ratios) && changes(settings, chosen.settings) > 0,
  );
  return { settings: chosen.settings, outcome: chosen.outcome, reached, ties: ties.map(({ settings }) => settings) };
}

function sameRatios(a: { precision: number; recall: number }, b: { precision: number; recall: number }): boolean {
  return a.precision === b.precision && a.recall === b.recall;
}

/** How many settings differ. */
function changes(a: GateSettings, b: GateSettings): number {
  return (Object.keys(a) as (keyof GateSettings)[]).filter((name) => a[name] !== b[name]).length;
}
