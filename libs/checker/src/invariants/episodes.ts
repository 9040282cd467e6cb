import { episodeId } from '#domain/ids';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

type NoticeRow = TurnRow & { readonly id: string; readonly found: string };
type EpisodeRow = TurnRow & { readonly id: string; readonly notice_ids: string[] };

/** Invariant 8: a pending notice is in exactly one live episode; a fault has one live incident. */
export async function checkEpisodes(reader: Reader, findings: Findings): Promise<void> {
  findings.count('episodes', await reader.number("SELECT count(*) FROM mailbox.episodes WHERE status <> 'void'"));
  findings.count('open_incidents', await reader.number("SELECT count(*) FROM mailbox.incidents WHERE status = 'open'"));
  for (const check of NOTICES) await checkRows(reader, findings, check);
  await checkRows(reader, findings, INCIDENTS);
  const rows = reader.rows<EpisodeRow>("SELECT project, session, t, id, notice_ids FROM mailbox.episodes WHERE status = 'open'");
  for await (const { id, notice_ids: notices, ...row } of rows)
    if (episodeId(notices) !== id)
      findings.add(8, `${turnName(row)}, episode ${id}: expected the id of its notices, ${episodeId(notices)}, found ${id}`);
}

const LIVE_EPISODES = "SELECT e.id, unnest(e.notice_ids) AS notice FROM mailbox.episodes e WHERE e.status IN ('open', 'claimed')";

const NOTICES: readonly RowCheck<NoticeRow>[] = [
  {
    invariant: 8,
    sql: `WITH live AS (SELECT notice, count(*) AS episodes, min(id) AS one FROM (${LIVE_EPISODES}) m GROUP BY notice)
          SELECT n.project, n.session, n.t, n.id, coalesce(live.episodes, 0) || ' (it names ' || coalesce(n.episode_id, 'none') || ')' AS found
          FROM mailbox.notices n LEFT JOIN live ON live.notice = n.id
          WHERE n.status = 'pending' AND n.passage = 'post' AND (live.episodes IS DISTINCT FROM 1 OR live.one IS DISTINCT FROM n.episode_id)`,
    detail: ({ id, found, ...row }) =>
      `${turnName(row)}, notice ${id}: expected exactly one live episode, the one it names, found ${found}`,
  },
  {
    invariant: 8,
    sql: `SELECT e.project, e.session, e.t, e.id, m.notice || coalesce(' (' || n.status || ')', ' (no such notice)') AS found
          FROM mailbox.episodes e CROSS JOIN LATERAL unnest(e.notice_ids) AS m(notice) LEFT JOIN mailbox.notices n ON n.id = m.notice
          WHERE e.status = 'open' AND (n.status IS DISTINCT FROM 'pending' OR n.passage <> 'post')`,
    detail: ({ id, found, ...row }) => `${turnName(row)}, episode ${id}: expected pending notices only, found ${found}`,
  },
  {
    invariant: 8,
    sql: `SELECT e.project, e.session, e.t, e.id, e.incident_id AS found FROM mailbox.episodes e
          WHERE e.status <> 'void' AND NOT EXISTS (SELECT 1 FROM mailbox.incidents i WHERE i.id = e.incident_id)`,
    detail: ({ id, found, ...row }) => `${turnName(row)}, episode ${id}: expected its incident ${found}, found none`,
  },
];

const INCIDENTS: RowCheck<{ project: string; fingerprint: string; ids: string[] }> = {
  invariant: 8,
  sql: `SELECT project, fingerprint, array_agg(id ORDER BY id) AS ids FROM mailbox.incidents
        WHERE status IN ('open', 'suppressed', 'covered') AND fingerprint IS NOT NULL GROUP BY project, fingerprint HAVING count(*) > 1`,
  detail: ({ project, fingerprint, ids }) => `${project}: expected one live incident of ${fingerprint}, found ${ids.join(', ')}`,
};
