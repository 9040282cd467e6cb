import type { EvalCaseDetail, EvalCaseLine, EvalCaseSummary } from '#contracts';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

export interface CaseFilter {
  readonly kind?: string | undefined;
  readonly signature?: string | undefined;
  readonly replayable?: boolean | undefined;
}

const SUMMARY = `c.id, ${micros('c.created_at')} AS created_at, c.session AS session_id, c.kind, c.signatures AS signature, c.baseline,
  c.replay_input IS NOT NULL AS replayable, c.notes, c.notice_id`;
const VERSION = `coalesce((SELECT version FROM evalset.versions WHERE project = $1), 0)::bigint AS version`;

/** Reads of the eval set. Each gives the version that it saw. */
export class EvalCases {
  constructor(private readonly db: Database) {}

  /** 0: nothing has changed the set yet. Asked for before a list, so that the list holds at least what the version had. */
  async version(project: string): Promise<number> {
    const [row] = await this.db.query<{ version: number }>(`SELECT ${VERSION}`, [project]);
    return row?.version ?? 0;
  }

  /** Newest first; at most `limit` + 1. */
  async list(project: string, filter: CaseFilter, after: After | null, limit: number): Promise<EvalCaseSummary[]> {
    const { kind, signature, replayable } = filter;
    const where = new Conditions()
      .add(project, (p) => `c.project = ${p}`)
      .add(kind, (p) => `c.kind = ${p}`)
      .add(signature, (p) => `${p} = ANY(c.signatures)`)
      .add(replayable, (p) => `(c.replay_input IS NOT NULL) = ${p}`)
      .after(after, 'c.created_at', 'c.id');
    return this.db.query<EvalCaseSummary>(
      `SELECT ${SUMMARY} FROM evalset.cases c WHERE ${where.toString()} ORDER BY c.created_at DESC, c.id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async find(project: string, id: string): Promise<EvalCaseDetail | undefined> {
    const rows = await this.db.query<EvalCaseDetail>(
      `SELECT ${SUMMARY}, c.replay_input, ${VERSION} FROM evalset.cases c WHERE c.project = $1 AND c.id = $2`,
      [project, id],
    );
    return rows[0];
  }

  /** The whole set as of one moment, oldest first. */
  async all(project: string): Promise<{ version: number; lines: EvalCaseLine[] }> {
    const [row] = await this.db.query<{ version: number; lines: EvalCaseLine[] | null }>(
      `SELECT ${VERSION}, (
         SELECT json_agg(json_build_object('id', c.id, 'created_at', ${micros('c.created_at')}, 'session_id', c.session, 'kind', c.kind,
           'signature', c.signatures, 'baseline', c.baseline, 'replay_input', c.replay_input, 'notes', c.notes) ORDER BY c.created_at, c.id)
         FROM evalset.cases c WHERE c.project = $1) AS lines`,
      [project],
    );
    return { version: row?.version ?? 0, lines: row?.lines ?? [] };
  }
}
