import { DEFAULT_PROJECT, LIVE_PREFIX, noticePosted } from '#contracts';
import { sanitize } from '#domain/text';
import { answer, formatOf, type FormatOption } from '../output/answer.js';
import { table, type Column } from '../output/table.js';
import type { Database } from '../postgres/database.js';
import { say, terminals } from '../output/write.js';
import { hostOf } from '../jetstream/connect.js';
import {
  noticesOverview,
  sessionsOverview,
  type NoticeOverview,
  type SessionOverview,
  type Totals,
} from '../postgres/overview.js';
import type { FirstJob } from './first-job.js';
import type { Loop } from './start-loop.js';

/** What `up` saw. */
interface Seen {
  readonly url: string;
  readonly job: FirstJob['kind'];
  readonly accepted: number;
  readonly rejected: number;
  readonly totals: Totals;
  readonly sessions: readonly SessionOverview[];
  readonly notices: readonly NoticeOverview[];
}

/** Every notice of the project that turns without a key go to, as it is stored. */
const LIVE_NOTICES = [LIVE_PREFIX, noticePosted.subject(DEFAULT_PROJECT, '*', '*')].join('.');
const SHOWN_SESSIONS = 20;
const SHOWN_NOTICES = 20;

/** Prints sessions and notices: of what was just imported, or the newest when nothing was. */
export async function printSeen(loop: Loop, db: Database, job: FirstJob, options: FormatOption): Promise<void> {
  const of = job.imported?.sessions ?? null;
  const [overview, notices] = await Promise.all([
    sessionsOverview(db, of, SHOWN_SESSIONS),
    noticesOverview(db, of, SHOWN_NOTICES),
  ]);
  const { accepted = 0, rejected = 0 } = job.imported ?? {};
  const seen: Seen = { url: loop.url, job: job.kind, accepted, rejected, ...overview, notices };
  await answer(seen, options, seenText);
  if (formatOf(options) === 'pretty') say(howToLookFurther(loop, notices[0]?.session ?? overview.sessions[0]?.session));
}

function seenText({ sessions, totals, notices }: Seen): string {
  if (sessions.length === 0) return 'no sessions yet';
  const width = terminals.out ? terminals.columns : undefined;
  const rest = totals.sessions - sessions.length;
  const sum = `${totals.sessions} sessions, ${totals.turns} turns, ${totals.scores} scores, ${totals.fired} gate firings, ${totals.notices} notices`;
  return [
    '',
    table(sessions, sessionColumns, width) + (rest > 0 ? `\n… and ${rest} more` : ''),
    '',
    notices.length === 0 ? 'no notices' : notices.map(noticeText).join('\n'),
    totals.notices > notices.length ? `… and ${totals.notices - notices.length} more` : '',
    sum,
  ].join('\n');
}

const sessionColumns: readonly Column<SessionOverview>[] = [
  { title: 'session', of: ({ session }) => session },
  { title: 'turns', of: ({ turns }) => turns, right: true },
  { title: 'scores', of: ({ scores }) => scores, right: true },
  { title: 'fired', of: ({ fired }) => fired, right: true },
  { title: 'notices', of: ({ notices }) => notices, right: true },
  { title: 'stands', of: ({ standing }) => standing.join(', ') },
];

function noticeText({ session, turn, severity, status, signatures, summary }: NoticeOverview): string {
  const state = status === 'pending' ? '' : ` (${status})`;
  return onOneLine(`${severity}${state}  ${session} turn ${turn}: ${signatures.join(', ')}`) + `\n    ${onOneLine(summary)}`;
}

/** What a session is called and what its tools answered comes from outside. */
function onOneLine(text: string): string {
  return sanitize(text, { markers: [] }).replace(/\s*\n\s*/g, ' ');
}

function howToLookFurther({ url, natsUrl }: Loop, session: string | undefined): string {
  const path = session === undefined ? '/v1/sessions' : `/v1/sessions/${encodeURIComponent(session)}`;
  const id = session === undefined ? '' : ` ${session}`;
  return [
    '',
    'Look further:',
    `  curl -s ${url}${path}`,
    `  npx fleetmend sessions${id}`,
    '  npx fleetmend notices watch',
    `  nats --server nats://${hostOf(natsUrl)} sub '${LIVE_NOTICES}'`,
  ].join('\n');
}
