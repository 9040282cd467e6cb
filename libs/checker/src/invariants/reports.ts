import { turnEvaluated, projectOfSubject } from '#contracts';
import { contentHash, sessionKey } from '#domain/ids';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Broker, StoredMessage } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';
import { ScratchTable } from '../postgres/scratch-table.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

interface SeenReport {
  readonly project: string;
  readonly session: string;
  readonly s: string;
  readonly t: number;
  readonly rev: number;
  /** Of the body without its revision: gating's own digest. */
  readonly hash: string;
}

/** Copies what FM_REPORTS holds to `checker_reports`. Returns the time since which the stream keeps everything, microseconds. */
export async function loadReports(reader: Reader, broker: Broker, findings: Findings): Promise<number> {
  const { keptSinceUs } = await broker.extent(turnEvaluated.stream);
  const table = await ScratchTable.create<SeenReport>(
    reader,
    'checker_reports',
    'project text, session text, s uuid, t bigint, rev int, hash text',
  );
  let count = 0;
  for await (const message of broker.messages(turnEvaluated.stream, turnEvaluated.pattern)) {
    await table.add(seenReport(message));
    count += 1;
  }
  await table.finish();
  findings.count('reports', count);
  return keptSinceUs;
}

function seenReport({ subject, data }: StoredMessage): SeenReport {
  // Which other reports changed with it is no part of what a report says.
  const {
    revision,
    changed_from: _,
    ...content
  } = JSON.parse(Buffer.from(data).toString()) as {
    revision: number;
    changed_from?: number;
    session_id: string;
    turn_index: number;
  };
  const project = projectOfSubject(subject) ?? '';
  const { session_id: session, turn_index: t } = content;
  return { project, session, s: sessionKey(project, session), t, rev: revision, hash: contentHash(JSON.stringify(content)) };
}

type SeenRow = TurnRow & { readonly kept: number; readonly seen: number | null };

/** Invariant 4: the highest revision published is the one on record, and every revision has one body. */
export async function checkReports(reader: Reader, findings: Findings, keptSinceUs: number): Promise<void> {
  findings.count('evaluated', await reader.number('SELECT count(*) FROM gating.turn_evals WHERE rev > 0'));
  await checkRows(reader, findings, BODIES);
  await checkRows(reader, findings, { ...REVISIONS, parameters: [keptSinceUs] });
  await checkRows(reader, findings, STRANGERS);
  await checkRows(reader, findings, CONTENTS);
}

const BODIES: RowCheck<TurnRow & { rev: number; bodies: number }> = {
  invariant: 4,
  sql: `SELECT min(project) AS project, min(session) AS session, t, rev, count(DISTINCT hash) AS bodies FROM checker_reports
        GROUP BY s, t, rev HAVING count(DISTINCT hash) > 1`,
  detail: ({ rev, bodies, ...row }) => `${turnName(row)}: expected one body of revision ${rev}, found ${bodies}`,
};

const HIGHEST = 'SELECT s, t, max(rev) AS rev FROM checker_reports GROUP BY s, t';

const REVISIONS: RowCheck<SeenRow> = {
  invariant: 4,
  sql: `SELECT h.project, h.session, e.t, e.rev AS kept, r.rev AS seen FROM gating.turn_evals e JOIN gating.heads h USING (s) LEFT JOIN (${HIGHEST}) r USING (s, t)
        WHERE r.rev <> e.rev OR (r.rev IS NULL AND e.rev > 0 AND e.accepted_us >= $1)`,
  detail: ({ kept, seen, ...row }) =>
    `${turnName(row)}: expected revision ${kept} as the highest in ${turnEvaluated.stream}, found ${seen ?? 'none'}`,
};

const STRANGERS: RowCheck<TurnRow> = {
  invariant: 4,
  sql: `SELECT DISTINCT r.project, r.session, r.t FROM checker_reports r WHERE NOT EXISTS (SELECT 1 FROM gating.turn_evals WHERE s = r.s AND t = r.t)`,
  detail: (row) => `${turnName(row)}: expected the decision behind a published report, found none`,
};

/** The highest revision says what gating decided last; turns far behind the newest are corrected without being published. */
const CONTENTS: RowCheck<TurnRow & { rev: number }> = {
  invariant: 4,
  sql: `SELECT DISTINCT h.project, h.session, e.t, e.rev FROM gating.turn_evals e JOIN gating.heads h USING (s) JOIN scoring.configs c ON c.id = e.config
        JOIN checker_reports r ON r.s = e.s AND r.t = e.t AND r.rev = e.rev
        WHERE r.hash <> e.digest AND h.last_t - e.t <= (c.doc->>'revise_window_turns')::bigint`,
  detail: ({ rev, ...row }) => `${turnName(row)}: expected revision ${rev} to say what was decided last, found another content`,
};
