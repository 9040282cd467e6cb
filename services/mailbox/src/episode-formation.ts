import { Injectable } from '@nestjs/common';
import { episodeOpened } from '#contracts';
import { groupNotices, recommendedScope } from '#domain/episodes';
import { derivedId, episodeId } from '#domain/ids';
import type { Transaction } from '#persistence';
import { announceNotice } from './announcements.js';
import { EpisodeStore, type EpisodeRow, type IncidentRow } from './postgres/episode-store.js';
import { NoticeStore, type NoticeRow } from './postgres/notice-store.js';
import type { NewPost } from './posted-notices.js';

type Place = Pick<NoticeRow, 's' | 't'>;
const placeOf = ({ s, t }: Place): string => `${s}|${t}`;

/** Episodes follow from the pending notices of a turn: formed anew wherever those changed, until a repair has claimed one. */
@Injectable()
export class EpisodeFormation {
  constructor(
    private readonly episodes: EpisodeStore,
    private readonly notices: NoticeStore,
  ) {}

  /** Forms episodes, then tells of the new notices, which by now know theirs. */
  async form(tx: Transaction, posts: readonly NewPost[], corrected: readonly NoticeRow[]): Promise<void> {
    const rows = posts.flatMap(({ row }) => (row === undefined ? [] : [row]));
    const changed = [...rows.filter(({ passage }) => passage === 'post'), ...corrected];
    const episodeOf = changed.length === 0 ? new Map<string, string | null>() : await this.reform(tx, changed, openedBy(posts));
    for (const { row, traceparent } of posts)
      if (row !== undefined) announceNotice(tx, { ...row, episode_id: episodeOf.get(row.id) ?? null }, traceparent);
  }

  private async reform(
    tx: Transaction,
    changed: readonly NoticeRow[],
    opened: ReadonlyMap<string, IncidentRow>,
  ): Promise<Map<string, string | null>> {
    const places = [...new Map(changed.map((row) => [placeOf(row), { s: row.s, t: row.t }])).values()];
    const open = await this.episodes.openOf(tx, places);
    const all = await this.notices.since(tx, firstTurns(places));
    const here = new Set(places.map(placeOf));
    const pending = all.filter((row) => here.has(placeOf(row)) && row.status === 'pending' && row.passage === 'post');
    const free = pending.filter(({ episode_id: claimed }) => claimed === null || open.some(({ id }) => id === claimed));
    const wanted = groupNotices(free.map((row) => ({ ...row, session_id: row.session, turn_index: row.t }))).map(episodeRow);
    const gone = open.filter(({ id }) => !wanted.some((one) => one.id === id));
    const fresh = wanted.filter(({ id }) => !open.some((one) => one.id === id));
    await this.episodes.voidEpisodes(
      tx,
      gone.map(({ id }) => id),
    );
    await this.episodes.insertEpisodes(tx, fresh);
    await this.episodes.closeEmpty(tx, [...new Set(gone.map(({ incident_id: incident }) => incident))]);
    for (const episode of gone)
      tx.journal({
        id: derivedId('episode_void', episode.id),
        project: episode.project,
        type: 'episode_void',
        s: episode.s,
        session: episode.session,
        t: episode.t,
        episode: episode.id,
      });
    for (const episode of fresh) announceEpisode(tx, episode, opens(episode, opened, gone));
    return this.assign(
      tx,
      wanted,
      all.filter((row) => here.has(placeOf(row))),
    );
  }

  private async assign(
    tx: Transaction,
    wanted: readonly EpisodeRow[],
    rows: readonly NoticeRow[],
  ): Promise<Map<string, string | null>> {
    const episodeOf = new Map<string, string | null>(
      wanted.flatMap(({ id, notice_ids: ids }) => ids.map((notice) => [notice, id])),
    );
    const free = rows.filter(({ status, passage }) => passage === 'post' && (status === 'pending' || status === 'corrected'));
    const changes = free
      .filter((row) => row.episode_id !== (episodeOf.get(row.id) ?? null))
      .map(({ id }) => ({ id, episode_id: episodeOf.get(id) ?? null }));
    await this.notices.setEpisodes(
      tx,
      changes.filter(({ id, episode_id: to }) => to !== null || rows.some((row) => row.id === id && row.status === 'corrected')),
    );
    return episodeOf;
  }
}

/** Incidents by the notice that opened them. */
function openedBy(posts: readonly NewPost[]): Map<string, IncidentRow> {
  return new Map(
    posts.flatMap(({ row, opened }) => (row === undefined || opened === null || opened === undefined ? [] : [[row.id, opened]])),
  );
}

/** Only the episode that opened its incident asks for a repair: with a notice that did, or in the place of an episode that did. */
function opens(episode: EpisodeRow, opened: ReadonlyMap<string, IncidentRow>, gone: readonly EpisodeRow[]): boolean {
  return (
    episode.notice_ids.some((id) => opened.has(id)) ||
    gone.some((old) => old.incident_id === episode.incident_id && placeOf(old) === placeOf(episode))
  );
}

function firstTurns(places: readonly Place[]): { s: string; from: number }[] {
  const first = new Map<string, number>();
  for (const { s, t } of places) first.set(s, Math.min(t, first.get(s) ?? t));
  return [...first].map(([s, from]) => ({ s, from }));
}

function episodeRow(members: readonly NoticeRow[]): EpisodeRow {
  const [first] = members;
  if (first?.incident_id == null) throw new Error(`the notice ${first?.id ?? '(none)'} has no incident`);
  const ids = members.map(({ id }) => id);
  return {
    ...{
      id: episodeId(ids),
      project: first.project,
      s: first.s,
      t: first.t,
      session: first.session,
      incident_id: first.incident_id,
      notice_ids: ids,
    },
    recommended_scope: recommendedScope(members.map((one) => one.recommended_scope)),
  };
}

function announceEpisode(tx: Transaction, episode: EpisodeRow, opensIncident: boolean): void {
  const { id, project, s, session, t, notice_ids: notices, incident_id: incident } = episode;
  tx.journal({
    id: derivedId('episode_opened', id),
    project,
    type: 'episode_opened',
    s,
    session,
    t,
    episode: id,
    doc: { notices, incident, opens_incident: opensIncident },
  });
  if (!opensIncident) return;
  tx.emit({
    event: episodeOpened,
    id: derivedId('episode.opened', id, 1),
    project,
    payload: { episode_id: id, notice_ids: [...notices], session_id: session, turn_index: t, incident_id: incident, attempt: 1 },
  });
}
