import type { RuleRecord } from '#contracts';
import { Conditions, type After } from './conditions.js';
import { micros, type Database } from './database.js';

export interface RecordFilter {
  readonly status?: RuleRecord['status'] | undefined;
  readonly scope?: string | undefined;
  readonly withdrawn?: boolean | undefined;
  /** Candidates that wait for an operator or an objection, or those that do not. */
  readonly held?: boolean | undefined;
}

const TIMES = ['held_until', 'withdrawn_at', 'created_at', 'changed_at', 'promoted_at', 'retired_at'];

/** The columns of a RuleRecord, of the table `r`. */
const RECORD_COLUMNS = [
  'r.id, r.rule, r.rationale, r.metric, r.tags, r.scope, r.scope_rationale, r.applicability, r.failure_signatures, r.source_notices',
  'r.episode AS episode_id, r.edited_from, r.author, r.model, r.status, r.hold, r.retired_reason, r.seq AS version',
  ...TIMES.map((column) => `${micros(`r.${column}`)} AS ${column}`),
  '(SELECT count(*) FROM validation.exposures x WHERE x.project = r.project AND x.rule_ids @> ARRAY[r.id]) AS exposures',
].join(', ');

/** A veto whose time is over holds nothing, whether or not somebody has written that down yet. */
const HELD = "(r.hold = 'approval' OR (r.hold = 'veto' AND r.held_until > now()))";

/** Rules as operators see them. */
export class RuleRecords {
  constructor(private readonly db: Database) {}

  /** Newest first, at most `limit` + 1. */
  async list(project: string, filter: RecordFilter, after: After | null, limit: number): Promise<RuleRecord[]> {
    const { status, scope, withdrawn, held } = filter;
    const where = new Conditions()
      .add(project, (p) => `r.project = ${p}`)
      .add(status, (p) => `r.status = ${p}`)
      .add(scope, (p) => `r.scope = ${p}`)
      .require(withdrawn === undefined ? undefined : `r.withdrawn_at IS ${withdrawn ? 'NOT ' : ''}NULL`)
      .require(held === undefined ? undefined : `${HELD} IS ${held ? '' : 'NOT '}TRUE`)
      .after(after, 'r.created_at', 'r.id');
    return this.db.query<RuleRecord>(
      `SELECT ${RECORD_COLUMNS} FROM rules.rules r WHERE ${where.toString()} ORDER BY r.created_at DESC, r.id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  async find(project: string, id: string): Promise<RuleRecord | undefined> {
    const [row] = await this.db.query<RuleRecord>(
      `SELECT ${RECORD_COLUMNS} FROM rules.rules r WHERE r.project = $1 AND r.id = $2`,
      [project, id],
    );
    return row;
  }
}
