import type { Findings } from '../findings.js';
import type { Reader } from '../postgres/reader.js';

/** A question to the tables whose every answer is a violation. Bounded: the first rows tell enough. */
export interface RowCheck<Row extends object> {
  readonly invariant: number;
  readonly sql: string;
  readonly parameters?: readonly unknown[];
  readonly detail: (row: Row) => string;
}

const LIMIT = 200;

export async function checkRows<Row extends object>(reader: Reader, findings: Findings, check: RowCheck<Row>): Promise<void> {
  const rows = await reader.query<Row>(`SELECT * FROM (${check.sql}) wrong LIMIT ${LIMIT}`, check.parameters);
  for (const row of rows) findings.add(check.invariant, check.detail(row));
}

/** A turn with the names that people know it by. */
export interface TurnRow {
  readonly project: string;
  readonly session: string;
  readonly t: number;
}
