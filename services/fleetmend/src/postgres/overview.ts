import type { DataSource } from 'typeorm';

/** What the loop saw of one session. */
export interface SessionOverview {
  readonly project: string;
  readonly session: string;
  readonly turns: number;
  readonly scores: number;
  /** Conditions fired, corrected ones not counted. */
  readonly fired: number;
  readonly notices: number;
  readonly standing: readonly string[];
}

export interface NoticeOverview {
  readonly id: string;
  readonly session: string;
  readonly turn: number;
  readonly severity: string;
  readonly status: string;
  readonly signatures: readonly string[];
  readonly summary: string;
}

export interface Totals {
  readonly sessions: number;
  readonly turns: number;
  readonly scores: number;
  readonly fired: number;
  readonly notices: number;
}

export async function storedTurns(db: DataSource): Promise<number> {
  const rows = await db.query<{ count: number }[]>('SELECT count(*)::int AS count FROM scoring.turns');
  return rows[0]?.count ?? 0;
}

/** The named sessions, or all; the newest first. */
const SELECTED = 'FROM scoring.sessions x WHERE ($1::text[] IS NULL OR x.session = ANY($1))';

const COUNTS = `
  (SELECT count(*)::int FROM scoring.turns n WHERE n.s = x.s) AS turns,
  (SELECT count(*)::int FROM scoring.scores c WHERE c.s = x.s AND c.status = 'scored') AS scores,
  (SELECT coalesce(sum(cardinality(e.fired)), 0)::int FROM gating.turn_evals e WHERE e.s = x.s) AS fired,
  (SELECT count(*)::int FROM mailbox.notices m WHERE m.s = x.s AND m.status <> 'corrected') AS notices`;

/** Those with notices first. */
export async function sessionsOverview(
  db: DataSource,
  sessions: readonly string[] | null,
  limit: number,
): Promise<{ sessions: SessionOverview[]; totals: Totals }> {
  const newest = `SELECT x.s, x.project, x.session, x.first_at ${SELECTED} ORDER BY x.first_at DESC LIMIT 1000`;
  const rows = await db.query<SessionOverview[]>(
    `SELECT x.project, x.session, ${COUNTS}, coalesce((SELECT e.standing FROM gating.turn_evals e WHERE e.s = x.s ORDER BY e.t DESC LIMIT 1), '{}') AS standing
     FROM (${newest}) x ORDER BY notices DESC, x.first_at, x.session`,
    [sessions],
  );
  const sum = (of: (row: SessionOverview) => number): number => rows.reduce((total, row) => total + of(row), 0);
  return {
    sessions: rows.slice(0, limit),
    totals: {
      sessions: rows.length,
      turns: sum((row) => row.turns),
      scores: sum((row) => row.scores),
      fired: sum((row) => row.fired),
      notices: sum((row) => row.notices),
    },
  };
}

/** The newest notices of the named sessions, or of all. */
export async function noticesOverview(
  db: DataSource,
  sessions: readonly string[] | null,
  limit: number,
): Promise<NoticeOverview[]> {
  return db.query<NoticeOverview[]>(
    `SELECT id, session, t AS turn, severity, status, signatures, summary FROM mailbox.notices
     WHERE ($1::text[] IS NULL OR session = ANY($1)) AND status <> 'corrected' ORDER BY posted_at DESC, id DESC LIMIT ${limit}`,
    [sessions],
  );
}
