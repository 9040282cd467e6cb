/** The scored values of one metric from one source in one session, in trace order: `turns[i]` is the turn of `values[i]`. */
export interface StoredTrack {
  readonly metric: string;
  readonly source: string;
  readonly turns: readonly number[];
  readonly values: readonly number[];
}

export interface StoredSession {
  readonly session: string;
  /** Its newest turn, measured or not. */
  readonly lastTurn: number;
  readonly tracks: readonly StoredTrack[];
}

/** `metric@source`, the name of a track in settings. */
export function trackName({ metric, source }: Pick<StoredTrack, 'metric' | 'source'>): string {
  return `${metric}@${source}`;
}

/**
 * Per session and metric the value that thresholds are tried on: its lowest, since one value below a threshold is a breach.
 * Values of several sources are one metric here, as they are for thresholds.
 */
export function lowestScores(sessions: readonly StoredSession[]): Map<string, Map<string, number>> {
  return new Map(sessions.map(({ session, tracks }) => [session, lowestOf(tracks)]));
}

function lowestOf(tracks: readonly StoredTrack[]): Map<string, number> {
  const lowest = new Map<string, number>();
  for (const { metric, values } of tracks)
    for (const value of values) lowest.set(metric, Math.min(lowest.get(metric) ?? value, value));
  return lowest;
}

/** Failed: some value of the metric (the verifier's) is below its threshold. Sessions without one are not labelled. */
export function labelsFromOutcomes(sessions: readonly StoredSession[], metric: string, threshold: number): Map<string, boolean> {
  return new Map(
    sessions.flatMap(({ session, tracks }): [string, boolean][] => {
      const value = lowestOf(tracks).get(metric);
      return value === undefined ? [] : [[session, value < threshold]];
    }),
  );
}
