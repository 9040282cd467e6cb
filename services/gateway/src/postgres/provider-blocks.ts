import { BLOCKING_CODES } from '#domain/scoring';
import { micros, type Database } from './database.js';

/** A provider that scoring asks nothing until somebody has done something about it. */
export interface ProviderBlock {
  readonly project: string;
  /** `judge:<model>`, `embedding:<model>`, `webhook:<metric>`, `responder:<metric>`. */
  readonly provider: string;
  readonly code: string;
  /** What was wrong, in words that are fit to be shown. */
  readonly detail: string;
  /** Microseconds. */
  readonly since: number;
}

export interface ProviderBlocks {
  readonly blocks: readonly ProviderBlock[];
  /** Of all of them. */
  readonly count: number;
}

/** More would hide each other: after a key has expired every project is blocked. */
const MOST = 20;

/** The table has a row per project and provider in trouble, and no other. */
export class ProviderBlockRows {
  constructor(private readonly db: Database) {}

  /** Of one project, all of them; of all projects, the longest lasting. */
  async blocked(project?: string): Promise<ProviderBlocks> {
    const rows = await this.db.query<ProviderBlock & { count: number }>(
      `SELECT project, provider, code, detail, ${micros('since')} AS since, count(*) OVER () AS count FROM scoring.provider_blocks
       WHERE code = ANY ($1::text[]) AND ($2::text IS NULL OR project = $2) ORDER BY since, project, provider LIMIT $3`,
      [[...BLOCKING_CODES], project ?? null, project === undefined ? MOST : null],
    );
    return { blocks: rows.map(({ count: _, ...block }) => block), count: rows[0]?.count ?? 0 };
  }

  /** How many providers wait for a person, and how many only for their time. */
  async counts(): Promise<{ blocked: number; resting: number }> {
    const [row] = await this.db.query<{ blocked: number; resting: number }>(
      `SELECT count(*) FILTER (WHERE code = ANY ($1::text[])) AS blocked, count(*) FILTER (WHERE code <> ALL ($1::text[])) AS resting
       FROM scoring.provider_blocks`,
      [[...BLOCKING_CODES]],
    );
    return row ?? { blocked: 0, resting: 0 };
  }
}
