import { incidentId } from '#domain/ids';
import type { Findings } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import type { KnownSettings } from '../project-settings.js';

interface PostedRow {
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly passage: string;
  readonly incident_id: string | null;
  readonly opened: boolean;
}

/** A recovery empties the window at a moment of its transaction that nobody wrote down; posts this near are not counted. */
const VAGUE_S = 1;
/** How long settings may take to reach a service. */
const SETTLING_US = 2_000_000;

/**
 * Invariant 7: in any window no more notices are posted than the breaker lets through, and the one that says so. Joins of open
 * incidents are aside; a recovery empties the window.
 */
export async function checkBreaker(
  reader: Reader,
  findings: Findings,
  { project, settings, sinceUs }: KnownSettings & { project: string },
): Promise<void> {
  const { circuit_breaker_max_notices: limit, circuit_breaker_window_s: windowS } = settings;
  if (limit === 0) return;
  const since = (sinceUs + SETTLING_US) / 1_000_000;
  const recoveries = await recoveryTimes(reader, project);
  const posts = reader.rows<PostedRow>(
    `SELECT n.id, n.session, n.passage, n.incident_id, extract(epoch FROM n.posted_at)::float8 AS at, i.opened_by IS NOT DISTINCT FROM n.id AS opened
     FROM mailbox.notices n LEFT JOIN mailbox.incidents i ON i.id = n.incident_id
     WHERE n.project = $1 AND n.passage IN ('post', 'needs_human') AND extract(epoch FROM n.posted_at) > $2 ORDER BY n.posted_at, n.id`,
    [project, since],
  );
  let window: number[] = [];
  for await (const post of posts) {
    const recovered = lastUpTo(recoveries, post.at + VAGUE_S);
    if (post.at - recovered <= VAGUE_S || !counts(post)) continue;
    window = [...window.filter((time) => post.at - time <= windowS && time > recovered), post.at];
    if (window.length > limit + 1)
      findings.add(
        7,
        `${project}/${post.session}, notice ${post.id}: expected at most ${limit} + 1 posted notices within ${windowS} s, found ${window.length}`,
      );
  }
}

function counts({ id, passage, incident_id: incident, opened }: PostedRow): boolean {
  return passage === 'needs_human' || opened || incident === incidentId(id);
}

/** The last of the ascending `times` that is not after `time`; -Infinity when there is none. */
function lastUpTo(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) <= time) low = middle + 1;
    else high = middle;
  }
  return times[low - 1] ?? -Infinity;
}

async function recoveryTimes(reader: Reader, project: string): Promise<number[]> {
  const rows = await reader.query<{ at: number }>(
    "SELECT extract(epoch FROM at)::float8 AS at FROM journal.events WHERE project = $1 AND type = 'recovery' ORDER BY at",
    [project],
  );
  return rows.map(({ at }) => at);
}
