import { Controller, Inject } from '@nestjs/common';
import type { Episode, EpisodeDetail, Incident, JournalEvent } from '#contracts';
import type { Caller } from '../access/caller.js';
import { Episodes } from '../postgres/episodes.js';
import { LoopLists } from '../postgres/loop-lists.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { notFound, ProblemError, problemOf } from './problem.js';
import { microsOf } from './query-times.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

interface Page<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

/** What the loop did: episodes, incidents, journal. */
@Controller()
export class LoopController {
  constructor(
    @Inject(LoopLists) private readonly lists: LoopLists,
    @Inject(Episodes) private readonly byId: Episodes,
  ) {}

  @Route(routes.listEpisodes)
  async episodes(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listEpisodes>,
  ): Promise<Page<Episode>> {
    const { cursor, limit, ...filter } = query;
    const rows = await this.lists.episodes(project, filter, decodeCursor(cursor), limit);
    return pageOf(rows, limit, ({ opened_at: at, id }) => ({ at, id }));
  }

  @Route(routes.readEpisode)
  async episode(
    @CurrentCaller() { project }: Caller,
    @Input() { params }: InputOf<typeof routes.readEpisode>,
  ): Promise<EpisodeDetail> {
    const found = await this.byId.find(project, params.id);
    if (found === undefined) throw noEpisode(params.id);
    return found;
  }

  @Route(routes.retryEpisode)
  async retry(@CurrentCaller() caller: Caller, @Input() { params }: InputOf<typeof routes.retryEpisode>): Promise<EpisodeDetail> {
    const retried = await this.byId.retry(caller.project, params.id, caller.who);
    if (retried === 'unknown') throw noEpisode(params.id);
    if (retried === 'not_blocked')
      throw new ProblemError(problemOf('not-possible', 409, `The episode ${params.id} does not wait for an operator.`));
    return this.episode(caller, { params, query: undefined, body: undefined });
  }

  @Route(routes.listIncidents)
  async incidents(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listIncidents>,
  ): Promise<Page<Incident>> {
    const { cursor, limit, status } = query;
    const rows = await this.lists.incidents(project, status, decodeCursor(cursor), limit);
    return pageOf(rows, limit, ({ opened_at: at, id }) => ({ at, id }));
  }

  @Route(routes.readJournal)
  async journal(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.readJournal>,
  ): Promise<Page<JournalEvent>> {
    const { cursor, limit, since, until, ...rest } = query;
    const filter = { ...rest, since: microsOf('since', since), until: microsOf('until', until) };
    const rows = await this.lists.journal(project, filter, decodeCursor(cursor), limit);
    return pageOf(rows, limit, ({ at, id }) => ({ at, id }));
  }
}

const noEpisode = (id: string): ProblemError => notFound(`The project has no episode ${id}.`);
