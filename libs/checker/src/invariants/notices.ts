import { noticePosted, type Notice } from '#contracts';
import { evalCaseId } from '#domain/evalset';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Broker } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';
import { ScratchTable } from '../postgres/scratch-table.js';
import type { KnownSettings } from '../project-settings.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

interface SeenNotice {
  readonly id: string;
  readonly session: string;
  readonly t: number;
  readonly signatures: readonly string[];
}

/** Copies the `notice.posted` events of FM_NOTICES to `checker_notices`. Returns the time since which the stream keeps everything. */
export async function loadNotices(reader: Reader, broker: Broker, findings: Findings): Promise<number> {
  const { keptSinceUs } = await broker.extent(noticePosted.stream);
  const table = await ScratchTable.create<SeenNotice>(
    reader,
    'checker_notices',
    'id text, session text, t bigint, signatures json',
  );
  let count = 0;
  for await (const { data } of broker.messages(noticePosted.stream, noticePosted.pattern)) {
    const { id, session_id: session, turn_index: t, signatures } = JSON.parse(Buffer.from(data).toString()) as Notice;
    await table.add({ id, session, t, signatures });
    count += 1;
  }
  await table.finish();
  findings.count('notice_events', count);
  return keptSinceUs;
}

type NoticeName = TurnRow & { readonly id: string };
const noticeName = ({ id, ...row }: NoticeName): string => `${turnName(row)}, notice ${id}`;

const POSTED = "n.passage IN ('post', 'needs_human')";

/** Invariant 6: one event for every notice that was posted, none for any other; eval cases where they belong. */
export async function checkNotices(
  reader: Reader,
  findings: Findings,
  { keptSinceUs, settings }: { keptSinceUs: number; settings: ReadonlyMap<string, KnownSettings> },
): Promise<void> {
  findings.count('notices', await reader.number('SELECT count(*) FROM mailbox.notices'));
  findings.count('posted_notices', await reader.number(`SELECT count(*) FROM mailbox.notices n WHERE ${POSTED}`));
  await checkRows(reader, findings, { ...UNTOLD, parameters: [keptSinceUs] });
  for (const check of [TOLD_TWICE, UNKNOWN]) await checkRows(reader, findings, check);
  await checkRows(reader, findings, STRAY_CASES);
  for (const [project, known] of settings)
    if (known.settings.capture_eval_cases) await checkCases(reader, findings, { project, ...known });
}

const UNTOLD: RowCheck<NoticeName> = {
  invariant: 6,
  sql: `SELECT n.project, n.session, n.t, n.id FROM mailbox.notices n WHERE ${POSTED} AND extract(epoch FROM n.posted_at) * 1000000 >= $1
        AND NOT EXISTS (SELECT 1 FROM checker_notices e WHERE e.id = n.id)`,
  detail: (row) => `${noticeName(row)}: expected its notice.posted event, found none`,
};

const TOLD_TWICE: RowCheck<NoticeName & { events: number }> = {
  invariant: 6,
  sql: `SELECT n.project, e.session, e.t, e.id, e.events FROM (SELECT id, min(session) AS session, min(t) AS t, count(*) AS events FROM checker_notices GROUP BY id HAVING count(*) > 1) e
        LEFT JOIN mailbox.notices n USING (id)`,
  detail: ({ events, ...row }) => `${noticeName(row)}: expected one notice.posted event, found ${events}`,
};

const UNKNOWN: RowCheck<NoticeName & { events: number }> = {
  invariant: 6,
  sql: `SELECT n.project, e.session, e.t, e.id FROM checker_notices e LEFT JOIN mailbox.notices n ON n.id = e.id
        AND ${POSTED} AND n.session = e.session AND n.t = e.t AND to_jsonb(n.signatures) = e.signatures::jsonb WHERE n.id IS NULL`,
  detail: (row) => `${noticeName(row)}: expected a posted notice with the event's session, turn and signatures, found none`,
};

const STRAY_CASES: RowCheck<TurnRow & { id: string; notice: string | null }> = {
  invariant: 6,
  sql: `SELECT c.project, c.session, coalesce(n.t, -1) AS t, c.id, c.notice_id AS notice FROM evalset.cases c LEFT JOIN mailbox.notices n ON n.id = c.notice_id
        WHERE c.notice_id IS NOT NULL AND c.kind = 'failure'
          AND (n.id IS NULL OR n.passage <> 'post' OR n.severity <> 'breach' OR n.s <> c.s OR n.signatures <> c.signatures)`,
  detail: ({ id, notice, ...row }) =>
    `${turnName(row)}: eval case ${id} expects a posted breach with its session and signatures, found ${notice ?? 'none'}`,
};

/** Settings reach a service within a second; a notice of just that moment may have seen either. */
const SETTLING_US = 2_000_000;

async function checkCases(
  reader: Reader,
  findings: Findings,
  { project, sinceUs }: KnownSettings & { project: string },
): Promise<void> {
  const rows = reader.rows<NoticeName & { s: string; signatures: string[] }>(
    `SELECT n.project, n.session, n.t, n.id, n.s, n.signatures FROM mailbox.notices n
     WHERE n.project = $1 AND n.passage = 'post' AND n.severity = 'breach' AND extract(epoch FROM n.posted_at) * 1000000 > $2
       AND NOT EXISTS (SELECT 1 FROM evalset.cases c WHERE c.s = n.s AND c.signatures = n.signatures AND c.kind = 'failure')`,
    [project, sinceUs + SETTLING_US],
  );
  for await (const { s, signatures, ...row } of rows) {
    const id = evalCaseId(s, 'failure', signatures);
    const gone = await reader.number(
      "SELECT count(*) FROM journal.events WHERE project = $1 AND type IN ('eval_case_evicted', 'eval_case_refused', 'eval_case_removed') AND doc->>'case' = $2",
      [project, id],
    );
    if (gone === 0) findings.add(6, `${noticeName(row)}: expected the eval case ${id} or its eviction, found neither`);
  }
}
