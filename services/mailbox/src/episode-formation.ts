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
    const episodeOf = changed.length === 0 ? new Map<string, string | null>() : await this.reform(tx, changed);
    for (const { row, traceparent } of posts)
      if (row !== undefined) announceNotice(tx, { ...row, episode_id: episodeOf.get(row.id) ?? null }, traceparent);
  }

  private async reform(tx: Transaction, changed: readonly NoticeRow[]): Promise<Map<string, string | null>> {
    const places = [...new Map(changed.map((row) => [placeOf(row), { s: row.s, t: row.t }])).values()];
    const incidents = [...new Set(changed.flatMap(({ incident_id: id }) => id ?? []))];
    await this.episodes.lockIncidents(tx, incidents);
    const open = await this.episodes.openOf(tx, places);
    const here = new Set(places.map(placeOf));
    const all = (await this.notices.since(tx, firstTurns(places))).filter((row) => here.has(placeOf(row)));
    const pending = all.filter(({ status, passage }) => status === 'pending' && passage === 'post');
    const free = pending.filter(({ episode_id: claimed }) => claimed === null || open.some(({ id }) => id === claimed));
    const wanted = groupNotices(free.map((row) => ({ ...row, session_id: row.session, turn_index: row.t }))).map(episodeRow);
    const gone = open.filter(({ id }) => !wanted.some((one) => one.id === id));
    await this.episodes.voidEpisodes(
      tx,
      gone.map(({ id }) => id),
    );
    const fresh = await this.episodes.insertEpisodes(
      tx,
      wanted.filter(({ id }) => !open.some((one) => one.id === id)),
    );
    for (const episode of gone) journalEpisode(tx, 'episode_void', episode);
    for (const episode of fresh) journalEpisode(tx, 'episode_opened', episode);
    await this.settleIncidents(tx, [...new Set([...incidents, ...[...gone, ...fresh].map(({ incident_id: id }) => id)])]);
    return this.assign(tx, wanted, all);
  }

  /**
   * What becomes of incidents whose episodes changed: one without live episodes is closed; in one whose speaker is gone, has ended, or
   * never was, the oldest live episode asks for the repair; a closed one whose fault has another incident by now goes over to that.
   * One that is covered stays so: whether its rule stands for the new episode too is repair's to see.
   */
  private async settleIncidents(tx: Transaction, ids: readonly string[]): Promise<void> {
    const changed: IncidentRow[] = [];
    for (const { first, opener_lives: spoken, other, ...incident } of await this.episodes.states(tx, ids)) {
      if (first === null) {
        if (incident.status === 'open') changed.push({ ...incident, status: 'closed', opened_by: '' });
      } else if (incident.status === 'closed' && other !== null) {
        await this.episodes.moveEpisodes(tx, incident.id, other);
      } else if (!spoken || incident.status === 'closed') {
        changed.push({ ...incident, status: incident.status === 'covered' ? 'covered' : 'open', opened_by: first.id });
        askForRepair(tx, first);
      }
    }
    await this.episodes.saveIncidents(tx, changed);
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
      attempt: 1,
    },
    recommended_scope: recommendedScope(members.map((one) => one.recommended_scope)),
  };
}

function journalEpisode(tx: Transaction, type: 'episode_opened' | 'episode_void', episode: EpisodeRow): void {
  const { id, attempt, project, s, session, t, notice_ids: notices, incident_id: incident } = episode;
  tx.journal({ id: derivedId(type, id, attempt), project, type, s, session, t, episode: id, doc: { notices, incident } });
}

function askForRepair(tx: Transaction, episode: EpisodeRow): void {
  const { id, attempt, project, session, t, notice_ids: notices, incident_id: incident } = episode;
  tx.emit({
    event: episodeOpened,
    id: derivedId('episode.opened', id, attempt),
    project,
    payload: { episode_id: id, notice_ids: [...notices], session_id: session, turn_index: t, incident_id: incident, attempt },
  });
}
