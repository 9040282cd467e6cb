import { Controller, Inject } from '@nestjs/common';
import type { SessionSummary, SessionTrajectory, SessionWarning, TrajectoryTurn } from '#contracts';
import type { Caller } from '../access/caller.js';
import { Notices } from '../postgres/notices.js';
import { Sessions, type SessionDetail, type SessionRow } from '../postgres/sessions.js';
import { CurrentCaller } from './current-caller.js';
import { decodeCursor, pageOf } from './cursor.js';
import { notFound } from './problem.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

type Series = SessionTrajectory['series'][number];

@Controller()
export class SessionsController {
  constructor(
    @Inject(Sessions) private readonly sessions: Sessions,
    @Inject(Notices) private readonly notices: Notices,
  ) {}

  @Route(routes.listSessions)
  async list(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof routes.listSessions>,
  ): Promise<{ items: SessionSummary[]; next_cursor: string | null }> {
    const { agent, alerting, q: prefix, cursor, limit } = query;
    const filter = { agent, prefix, alerting: alerting === undefined ? undefined : alerting === 'true' };
    const rows = await this.sessions.list(project, filter, decodeCursor(cursor), limit);
    const { items, next_cursor } = pageOf(rows, limit, ({ first_at: at, s: id }) => ({ at, id }));
    return { items: items.map(shown), next_cursor };
  }

  @Route(routes.readSession)
  async read(
    @CurrentCaller() { project }: Caller,
    @Input() { params, query }: InputOf<typeof routes.readSession>,
  ): Promise<SessionTrajectory> {
    const session = await this.sessions.find(project, params.id);
    if (session === undefined)
      throw notFound(
        'No turn of this session is stored. One that was accepted a moment ago appears as soon as scoring has read it.',
      );
    const [newest, notices] = await Promise.all([
      this.sessions.turns(session.s, query.before, query.limit),
      this.notices.ofSession(session.s),
    ]);
    const turns = newest.slice(0, query.limit).reverse();
    const more = newest.length > query.limit ? (turns[0]?.turn_index ?? null) : null;
    return {
      ...shown(session),
      turns,
      next_before: more,
      series: seriesOf(turns, session.peaks),
      notices,
      warnings: warningsOf(session),
    };
  }
}

function shown(row: SessionRow): SessionSummary {
  const { session_id, agent, first_at, last_turn_index, last_accepted_at, alerting, standing } = row;
  return { session_id, agent, first_at, last_turn_index, last_accepted_at, alerting, standing };
}

const MIXED: SessionWarning = {
  code: 'mixed_turns',
  message:
    'Some turns of this session were sent, and some were made of root spans (otlp_turns). They are counted in one order, though the index of the first is a small number and that of the others a time: send all of them, or none.',
};

const warningsOf = ({ mixed }: SessionDetail): SessionWarning[] => (mixed ? [MIXED] : []);

/** Values per metric and source, in turn order; with the peak that the gate counts. */
function seriesOf(turns: readonly TrajectoryTurn[], peaks: Readonly<Record<string, number>>): Series[] {
  const series = new Map<string, Series>();
  for (const { turn_index, scores } of turns) {
    for (const { metric, source, status, value, trace_id } of scores) {
      if (status !== 'scored' || value === null) continue;
      const track = `${metric}@${source}`;
      const one = series.get(track) ?? { metric, source, peak: peaks[track] ?? null, points: [] };
      one.points.push({ turn_index, trace_id, value });
      series.set(track, one);
    }
  }
  return [...series.values()].sort((a, b) => (`${a.metric}@${a.source}` < `${b.metric}@${b.source}` ? -1 : 1));
}
