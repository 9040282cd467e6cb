/** The transaction that a change is made in. */
export interface RuleTransaction {
  query<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]>;
}

/** What a change of a project's rules begins with. `now`: milliseconds since 1970, by the database's clock. */
export interface LockedRules {
  /** What the version will be when the change is done. */
  readonly next: number;
  readonly now: number;
}

/**
 * Takes the project's lock on rules until the end of the transaction: changes of rules follow each other, and what is compared with
 * the rules now is compared with all there are.
 */
export async function lockRules(tx: RuleTransaction, project: string): Promise<LockedRules> {
  const locked = await locking(tx, project);
  if (locked !== undefined) return locked;
  await tx.query('INSERT INTO rules.versions (project) VALUES ($1) ON CONFLICT DO NOTHING', [project]);
  return (await locking(tx, project)) ?? { next: 1, now: Date.now() };
}

async function locking(tx: RuleTransaction, project: string): Promise<LockedRules | undefined> {
  const [row] = await tx.query<LockedRules>(
    `SELECT version + 1 AS next, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now FROM rules.versions WHERE project = $1 FOR UPDATE`,
    [project],
  );
  return row;
}

/** The project's rules are at this version from the end of the transaction on; every rule that changed has it as its `seq`. */
export async function setRulesVersion(tx: RuleTransaction, project: string, version: number): Promise<void> {
  await tx.query('UPDATE rules.versions SET version = $2, at = now() WHERE project = $1', [project, version]);
}
