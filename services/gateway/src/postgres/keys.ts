import type { ApiKey, KeyScope } from '#contracts';
import { derivedId } from '#domain/ids';
import type { Transaction, UnitOfWork } from '#persistence';
import { Conditions, type After } from './conditions.js';
import { instant, micros, type Database } from './database.js';

export interface NewKey {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  /** SHA-256 of its text, hex. */
  readonly hash: string;
  readonly scopes: readonly KeyScope[];
  /** Microseconds, or null. */
  readonly expiresAt: number | null;
}

const COLUMNS = `id, project, name, scopes, ${micros('created_at')} AS created_at, ${micros('expires_at')} AS expires_at, ${micros('revoked_at')} AS revoked_at`;

/** The API keys of projects. Only hashes are stored; creation and revocation are journaled with who did it. */
export class Keys {
  constructor(
    private readonly db: Database,
    private readonly work: UnitOfWork,
  ) {}

  /** Newest first; at most `limit` + 1. */
  async list(project: string, after: After | null, limit: number): Promise<ApiKey[]> {
    const where = new Conditions().add(project, (p) => `project = ${p}`).after(after, 'edge.api_keys.created_at', 'id');
    return this.db.query<ApiKey>(
      `SELECT ${COLUMNS} FROM edge.api_keys WHERE ${where.toString()} ORDER BY edge.api_keys.created_at DESC, id LIMIT ${limit + 1}`,
      where.parameters,
    );
  }

  /** Undefined when the project does not exist. */
  async create(key: NewKey, who: string): Promise<ApiKey | undefined> {
    return this.work.run((tx) => insertKey(tx, key, who));
  }

  /** Undefined when the project has no such key; a key that was revoked before stays as it is. */
  async revoke(project: string, id: string, who: string): Promise<ApiKey | undefined> {
    return this.work.run(async (tx) => {
      const revoked = await tx.query(
        'UPDATE edge.api_keys SET revoked_at = now() WHERE project = $1 AND id = $2 AND revoked_at IS NULL RETURNING id',
        [project, id],
      );
      if (revoked.length > 0)
        tx.journal({ id: derivedId('key_revoked', id), project, type: 'key_revoked', doc: { key: id, who } });
      return (await tx.query<ApiKey>(`SELECT ${COLUMNS} FROM edge.api_keys WHERE project = $1 AND id = $2`, [project, id]))[0];
    });
  }
}

export async function insertKey(
  tx: Transaction,
  { id, project, name, hash, scopes, expiresAt }: NewKey,
  who: string,
): Promise<ApiKey | undefined> {
  const rows = await tx.query<ApiKey>(
    `INSERT INTO edge.api_keys (id, project, name, hash, scopes, expires_at)
     SELECT $1, project, $3, decode($4, 'hex'), $5::text[], ${instant('$6')} FROM edge.projects WHERE project = $2 RETURNING ${COLUMNS}`,
    [id, project, name, hash, scopes, expiresAt],
  );
  if (rows.length > 0)
    tx.journal({ id: derivedId('key_created', id), project, type: 'key_created', doc: { key: id, name, scopes, who } });
  return rows[0];
}
