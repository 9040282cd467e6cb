import { createHash } from 'node:crypto';
import type { Database } from '../postgres/database.js';

/** Bodies too large for the bus, by hash, stored before the event that names them. */
export class Bodies {
  constructor(private readonly db: Database) {}

  /**
   * Stores a body and gives its reference. The project is part of the hash: otherwise a second project that sends the same bytes
   * would find them as the first one's.
   */
  async store(project: string, body: Buffer): Promise<string> {
    const hash = createHash('sha256').update(`${project}\n`).update(body).digest('hex');
    await this.db.query('INSERT INTO edge.bodies (hash, project, body) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING', [
      hash,
      project,
      body,
    ]);
    return hash;
  }
}
