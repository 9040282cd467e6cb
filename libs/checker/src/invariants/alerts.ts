import type { GateConfig } from '#domain/gate';
import { foldAlerts, type AlertMemory } from '#domain/notices';
import type { Findings } from '../findings.js';
import { turnName } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import { ScratchTable } from '../postgres/scratch-table.js';
import type { StoredTurn } from '../stored-turn.js';
import { checkRows, type RowCheck, type TurnRow } from './row-check.js';

interface WantedNotice {
  readonly project: string;
  readonly session: string;
  readonly s: string;
  readonly t: number;
  readonly signatures: readonly string[];
}

interface FoldedSession {
  readonly s: string;
  readonly memory: AlertMemory | null;
}

/** Where the folds of invariant 5 leave what they want. */
export interface WantedTables {
  readonly notices: ScratchTable<WantedNotice>;
  readonly sessions: ScratchTable<FoldedSession>;
}

export async function createWantedTables(reader: Reader): Promise<WantedTables> {
  return {
    notices: await ScratchTable.create<WantedNotice>(
      reader,
      'checker_wanted',
      'project text, session text, s uuid, t bigint, signatures jsonb',
    ),
    sessions: await ScratchTable.create<FoldedSession>(reader, 'checker_folded', 's uuid, memory jsonb'),
  };
}

/** Folds the reports of one session in turn order. Fed turn by turn. */
export class SessionAlerts {
  private memory: AlertMemory | null = null;
  private s: string | undefined;

  constructor(
    private readonly configs: ReadonlyMap<string, GateConfig>,
    private readonly tables: WantedTables,
  ) {}

  async add({ project, session, s, t, rev, standing, measured, config }: StoredTurn): Promise<void> {
    this.s = s;
    // Not decided yet.
    if (rev === 0) return;
    const cooldownTurns = this.configs.get(config)?.alert_cooldown_turns ?? 0;
    const { steps, memory } = foldAlerts(this.memory, [{ t, standing, measured, cooldownTurns }]);
    this.memory = memory;
    for (const { posted, signatures } of steps)
      if (posted) await this.tables.notices.add({ project, session, s, t, signatures: [...signatures].sort() });
  }

  async finish(): Promise<void> {
    if (this.s !== undefined) await this.tables.sessions.add({ s: this.s, memory: this.memory });
  }
}

type NoticeRow = TurnRow & { readonly signatures: string[]; readonly found: string };

/** Invariant 5: the reports, folded, give exactly the notices that are not corrected; one row per (s, t, signatures). */
export async function checkAlerts(reader: Reader, findings: Findings, { notices, sessions }: WantedTables): Promise<void> {
  await notices.finish();
  await sessions.finish();
  for (const check of [MISSING, UNWANTED, DOUBLE]) await checkRows(reader, findings, check);
  await checkRows(reader, findings, MEMORIES);
}

const SORTED = '(SELECT jsonb_agg(one ORDER BY one COLLATE "C") FROM unnest(n.signatures) AS one)';
const named = ({ signatures, ...row }: TurnRow & { signatures: string[] }): string =>
  `${turnName(row)} [${signatures.join(', ')}]`;

const MISSING: RowCheck<NoticeRow> = {
  invariant: 5,
  sql: `SELECT w.project, w.session, w.t, w.signatures, coalesce((SELECT min(status) FROM mailbox.notices n WHERE n.s = w.s AND n.t = w.t AND ${SORTED} = w.signatures), 'none') AS found
        FROM checker_wanted w WHERE NOT EXISTS (SELECT 1 FROM mailbox.notices n WHERE n.s = w.s AND n.t = w.t AND n.status <> 'corrected' AND ${SORTED} = w.signatures)`,
  detail: (row) => `${named(row)}: expected a notice, found ${row.found}`,
};

/** An acknowledged notice stays acknowledged, whatever later evidence says. */
const UNWANTED: RowCheck<NoticeRow & { id: string }> = {
  invariant: 5,
  sql: `SELECT n.project, n.session, n.t, n.signatures, n.status AS found, n.id FROM mailbox.notices n
        WHERE n.status NOT IN ('corrected', 'acknowledged')
          AND NOT EXISTS (SELECT 1 FROM checker_wanted w WHERE w.s = n.s AND w.t = n.t AND w.signatures = ${SORTED})`,
  detail: (row) => `${named(row)}: expected no notice, found ${row.id} (${row.found})`,
};

const DOUBLE: RowCheck<NoticeRow> = {
  invariant: 5,
  sql: `SELECT n.project, n.session, n.t, array_agg(n.id) AS signatures, count(*)::text AS found FROM mailbox.notices n
        GROUP BY n.project, n.session, n.s, n.t, ${SORTED} HAVING count(*) > 1`,
  detail: ({ signatures: ids, found, ...row }) =>
    `${turnName(row)}: expected one row per turn and signatures, found ${found}: ${ids.join(', ')}`,
};

const MEMORIES: RowCheck<TurnRow & { expected: string; found: string }> = {
  invariant: 5,
  sql: `SELECT a.project, a.session, a.folded_t AS t, coalesce(f.memory::text, 'null') AS expected, coalesce(a.memory::text, 'null') AS found
        FROM mailbox.session_alerts a LEFT JOIN checker_folded f USING (s)
        WHERE nullif(a.memory, 'null') IS DISTINCT FROM nullif(f.memory, 'null')`,
  detail: ({ expected, found, ...row }) => `${turnName(row)}: expected the alert memory ${expected}, found ${found}`,
};
