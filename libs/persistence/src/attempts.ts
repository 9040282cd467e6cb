import type { DataSource } from 'typeorm';
import type { AttemptStore } from '#messaging';
import { classifyDatabaseError } from './errors.js';

/** `<service>.attempts`: how often a message failed for reasons of its own. */
export class PostgresAttempts implements AttemptStore {
  constructor(
    private readonly db: DataSource,
    private readonly service: string,
  ) {}

  async begin(consumer: string, event: string, error: string | null): Promise<number> {
    const rows = await this.query<{ attempts: number }>(
      `INSERT INTO ${this.service}.attempts (consumer, event, attempts, last_error) VALUES ($1, $2, 1, $3)
       ON CONFLICT (consumer, event) DO UPDATE SET attempts = attempts.attempts + 1, last_error = coalesce($3, attempts.last_error), at = now()
       RETURNING attempts`,
      [consumer, event, error],
    );
    return rows[0]?.attempts ?? 1;
  }

  async forget(consumer: string, events: readonly string[]): Promise<void> {
    await this.query(`DELETE FROM ${this.service}.attempts WHERE consumer = $1 AND event = ANY($2::text[])`, [consumer, events]);
  }

  async forgetUpTo(consumer: string, stream: string, sequence: number): Promise<void> {
    await this.query(
      `DELETE FROM ${this.service}.attempts WHERE consumer = $1 AND split_part(event, ':', 1) = $2 AND split_part(event, ':', 2)::bigint <= $3`,
      [consumer, stream, sequence],
    );
  }

  private async query<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    try {
      return await this.db.query<Row[]>(sql, parameters);
    } catch (error) {
      throw classifyDatabaseError(error);
    }
  }
}
