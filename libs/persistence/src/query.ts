import type { QueryRunner } from 'typeorm';

/** Structured, because TypeORM's plain answer to UPDATE and DELETE is a pair rather than rows. */
export async function query(runner: QueryRunner, sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
  const result = (await runner.query(sql, [...parameters], true)) as { records?: unknown[] };
  return result.records ?? [];
}
