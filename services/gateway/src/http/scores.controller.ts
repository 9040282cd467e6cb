import { Controller, Inject } from '@nestjs/common';
import type { StoredScores } from '#contracts';
import type { Caller } from '../access/caller.js';
import { StoredScoresReader, type StoredScoresRow } from '../postgres/stored-scores.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { microsOf } from './query-times.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

@Controller()
export class ScoresController {
  constructor(@Inject(StoredScoresReader) private readonly scores: StoredScoresReader) {}

  @Route(routes.listScores)
  async list(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listScores>,
  ): Promise<{ items: StoredScores[]; next_cursor: string | null }> {
    const { cursor, limit, metric, since, until } = query;
    const filter = { metric, since: microsOf('since', since), until: microsOf('until', until) };
    const rows = await this.scores.list(project, filter, decodeCursor(cursor), limit);
    const { items, next_cursor } = pageOf(rows, limit, ({ first_at: at, s: id }) => ({ at, id }));
    return { items: items.map(shown), next_cursor };
  }
}

function shown({ s: _, ...session }: StoredScoresRow): StoredScores {
  return session;
}
