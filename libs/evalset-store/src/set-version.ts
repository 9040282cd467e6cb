import type { Transaction } from '#persistence';

/** Whoever changes a set holds its lock, so that its limit holds and its versions are one after the other. Breakers are locked before. */
export async function lockSets(tx: Transaction, projects: readonly string[]): Promise<void> {
  if (projects.length > 0) await tx.query('SELECT evalset.lock($1::text[])', [projects]);
}

/** Says that a locked set has changed. Returns its new version. */
export async function advanceSet(tx: Transaction, project: string): Promise<number> {
  const [row] = await tx.query<{ version: number | null }>('SELECT evalset.advance($1) AS version', [project]);
  if (row?.version == null) throw new Error(`the eval set of ${project} changes without its lock`);
  return row.version;
}
