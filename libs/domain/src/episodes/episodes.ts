import { episodeId } from '../ids/index.js';

/** The part of a pending notice that decides which notices one repair works on together. */
export interface Groupable {
  readonly id: string;
  readonly session_id: string;
  readonly turn_index: number;
  readonly signatures: readonly string[];
  readonly flagged_traces: readonly string[];
}

/**
 * Groups notices of one session and turn that share a flagged trace or a signature, transitively (BEHAVIOUR 5).
 * Groups come in the order of their smallest notice id; ids inside a group are sorted.
 */
export function groupNotices<N extends Groupable>(notices: readonly N[]): N[][] {
  const sorted = [...notices].sort((a, b) => (a.id < b.id ? -1 : 1));
  const groups: { keys: Set<string>; members: N[] }[] = [];
  for (const notice of sorted) {
    const keys = linksOf(notice);
    const joined = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    const merged = {
      keys: new Set([...joined.flatMap((group) => [...group.keys]), ...keys]),
      members: [...joined.flatMap((group) => group.members), notice],
    };
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push(merged);
  }
  const ordered = groups.map(({ members }) => members.sort((a, b) => (a.id < b.id ? -1 : 1)));
  return ordered.sort((a, b) => ((a[0]?.id ?? '') < (b[0]?.id ?? '') ? -1 : 1));
}

function linksOf({ id, session_id, turn_index, signatures, flagged_traces }: Groupable): string[] {
  const place = JSON.stringify([session_id, turn_index]);
  const links = [...signatures.map((one) => `s${one}`), ...flagged_traces.map((one) => `t${one}`)];
  return links.length === 0 ? [`${place}n${id}`] : links.map((link) => place + link);
}

const NOT_PRECISE: ReadonlySet<string> = new Set(['global', 'scoped']);

/** The first precise recommendation over an episode's notices, in id order; null when the host recommended nothing usable. */
export function recommendedScope(
  recommendations: readonly (string | null)[],
  hostLabels: ReadonlySet<string> = new Set(),
): string | null {
  return recommendations.find((one) => one !== null && one !== '' && !NOT_PRECISE.has(one) && !hostLabels.has(one)) ?? null;
}

export interface EpisodesLine {
  /** Sessions to answer for besides those that have notices. */
  readonly sessions?: readonly string[] | undefined;
  readonly notices: readonly (Groupable & { recommended_scope: string | null })[];
}

export interface NextEpisode {
  readonly notice_ids: string[];
  readonly episode_id: string | null;
  readonly recommended_scope: string | null;
}

/** The next episode of every session: what `fleetmend episodes group` answers for one line. */
export function nextEpisodes({ notices, sessions: named = [] }: EpisodesLine): { episodes: Record<string, NextEpisode> } {
  const sessions = [...new Set([...named, ...notices.map(({ session_id }) => session_id)])];
  return {
    episodes: Object.fromEntries(
      sessions.map((session) => [session, nextEpisode(notices.filter((one) => one.session_id === session))]),
    ),
  };
}

function nextEpisode(notices: EpisodesLine['notices']): NextEpisode {
  const members = groupNotices(notices)[0] ?? [];
  const ids = members.map(({ id }) => id);
  if (ids.length === 0) return { notice_ids: [], episode_id: null, recommended_scope: null };
  return {
    notice_ids: ids,
    episode_id: episodeId(ids),
    recommended_scope: recommendedScope(members.map((one) => one.recommended_scope)),
  };
}
