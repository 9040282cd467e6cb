import { resolvingStatuses } from '#contracts';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

type EpisodeRow = TurnRow & { readonly id: string; readonly found: string };
const episodeName = ({ id, ...row }: EpisodeRow): string => `${turnName(row)}, episode ${id}`;

const RESOLVING = `('${resolvingStatuses.join("', '")}')`;

/** Invariants 8 (leases) and 9: an episode ends once, by one run, with one candidate at most, and its notices say how. */
export async function checkRepairs(reader: Reader, findings: Findings): Promise<void> {
  findings.count('repair_runs', await reader.number('SELECT count(*) FROM repair.runs'));
  findings.count('settled_episodes', await reader.number("SELECT count(*) FROM mailbox.episodes WHERE status = 'settled'"));
  await checkRows(reader, findings, LEASES);
  for (const check of EPISODES) await checkRows(reader, findings, check);
  await checkRows(reader, findings, NOTICES);
  await checkRows(reader, findings, FOR_PEOPLE);
}

const LEASES: RowCheck<{ project: string; incident: string; episodes: string[] }> = {
  invariant: 8,
  sql: `SELECT min(project) AS project, incident, array_agg(episode ORDER BY episode) AS episodes FROM repair.work
        WHERE state = 'running' AND leased_until > now() GROUP BY incident HAVING count(*) > 1`,
  detail: ({ project, incident, episodes }) =>
    `${project}, incident ${incident}: expected at most one live lease, found those of ${episodes.join(', ')}`,
};

/** How the other episodes of an incident end when one of them does: a candidate of one covers the others. */
const TAKEN_OVER = "CASE r.status WHEN 'candidate_added' THEN 'already_covered' ELSE r.status END";

const EPISODES: readonly RowCheck<EpisodeRow>[] = [
  {
    invariant: 9,
    sql: `SELECT e.project, e.session, e.t, e.id, count(*) || ' of them' AS found FROM repair.runs r JOIN mailbox.episodes e ON e.id = r.episode
          WHERE r.status IN ${RESOLVING} GROUP BY e.project, e.session, e.t, e.id HAVING count(*) > 1`,
    detail: ({ found, ...row }) => `${episodeName({ found, ...row })}: expected at most one run that settled it, found ${found}`,
  },
  {
    invariant: 9,
    sql: `SELECT e.project, e.session, e.t, e.id, string_agg(u.id, ', ' ORDER BY u.id) AS found FROM rules.rules u JOIN mailbox.episodes e ON e.id = u.episode
          WHERE u.edited_from IS NULL GROUP BY e.project, e.session, e.t, e.id HAVING count(*) > 1`,
    detail: ({ found, ...row }) => `${episodeName({ found, ...row })}: expected at most one candidate, found ${found}`,
  },
  {
    invariant: 9,
    sql: `SELECT e.project, e.session, e.t, e.id, e.status AS found FROM repair.runs r JOIN mailbox.episodes e ON e.id = r.episode
          WHERE r.status IN ${RESOLVING} AND e.status <> 'settled'`,
    detail: ({ found, ...row }) => `${episodeName({ found, ...row })}: expected it settled like its run, found it ${found}`,
  },
  {
    invariant: 9,
    sql: `SELECT e.project, e.session, e.t, e.id, coalesce(e.outcome ->> 'status', 'no outcome') AS found FROM mailbox.episodes e
          WHERE e.status = 'settled' AND NOT EXISTS (SELECT 1 FROM repair.runs r WHERE r.episode = coalesce(e.outcome ->> 'decided_by', e.id)
            AND e.outcome ->> 'status' = CASE WHEN r.episode = e.id THEN r.status ELSE ${TAKEN_OVER} END AND r.status IN ${RESOLVING})`,
    detail: ({ found, ...row }) =>
      `${episodeName({ found, ...row })}: expected the run that it ended by, found none for ${found}`,
  },
];

const NOTICES: RowCheck<TurnRow & { id: string; said: string; found: string }> = {
  invariant: 9,
  sql: `SELECT n.project, n.session, n.t, n.id, concat_ws(' ', n.resolution ->> 'kind', n.resolution ->> 'rule_id') AS said,
          CASE WHEN e.id IS NULL THEN 'no settled episode' ELSE concat_ws(' ', e.outcome ->> 'status', e.outcome ->> 'rule_id') END AS found
        FROM mailbox.notices n LEFT JOIN mailbox.episodes e ON e.id = n.episode_id AND e.status = 'settled' AND n.id = ANY(e.notice_ids)
        WHERE n.status = 'acknowledged' AND n.resolution ->> 'kind' IN ${RESOLVING}
          AND (e.outcome ->> 'status' IS DISTINCT FROM n.resolution ->> 'kind' OR e.outcome ->> 'rule_id' IS DISTINCT FROM n.resolution ->> 'rule_id')`,
  detail: ({ id, said, found, ...row }) =>
    `${turnName(row)}, notice ${id}: expected that it names the result of its episode, found "${said}" against "${found}"`,
};

const FOR_PEOPLE: RowCheck<TurnRow & { id: string; found: string }> = {
  invariant: 9,
  sql: `SELECT n.project, n.session, n.t, n.id, coalesce(n.episode_id, (SELECT min(e.id) FROM mailbox.episodes e WHERE n.id = ANY(e.notice_ids))) AS found
        FROM mailbox.notices n WHERE n.severity = 'needs_human'
          AND (n.episode_id IS NOT NULL OR EXISTS (SELECT 1 FROM mailbox.episodes e WHERE e.s = n.s AND e.t = n.t AND n.id = ANY(e.notice_ids)))`,
  detail: ({ id, found, ...row }) => `${turnName(row)}, notice ${id}: expected no episode for people to repair, found ${found}`,
};
