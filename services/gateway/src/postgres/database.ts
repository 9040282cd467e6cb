import type { DataSource } from 'typeorm';
import { classifyDatabaseError } from '#persistence';

/** The gateway's reads, and its single-statement writes. Throws InfrastructureError when the database is away. */
export class Database {
  constructor(private readonly source: DataSource) {}

  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    try {
      return await this.source.query<Row[]>(sql, [...parameters]);
    } catch (error) {
      throw classifyDatabaseError(error);
    }
  }
}

/** A timestamptz column as integer microseconds since the epoch. */
export const micros = (column: string): string => `(extract(epoch FROM ${column}) * 1000000)::bigint`;

/** A parameter in integer microseconds as timestamptz; exact, where to_timestamp() would go through seconds as a double. */
export const instant = (parameter: string): string => `('epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond')`;
