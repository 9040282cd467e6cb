import type { DataSource } from 'typeorm';

/** Of these dead letters, those that were redriven. */
export async function redriven(db: DataSource, sequences: readonly number[]): Promise<Set<number>> {
  const rows = await db.query<{ sequence: number }[]>('SELECT sequence FROM edge.redrives WHERE sequence = ANY($1)', [sequences]);
  return new Set(rows.map(({ sequence }) => sequence));
}

/**
 * Records a redrive around its publish: the row is inserted first, so that two at the same time wait for each other, and is kept only
 * when the publish went well. Gives false, without publishing, when the letter was redriven before.
 */
export async function redriveOnce(db: DataSource, sequence: number, publish: () => Promise<void>): Promise<boolean> {
  return db.transaction(async (transaction) => {
    const rows = await transaction.query<unknown[]>(
      'INSERT INTO edge.redrives (sequence) VALUES ($1) ON CONFLICT DO NOTHING RETURNING sequence',
      [sequence],
    );
    if (rows.length === 0) return false;
    await publish();
    return true;
  });
}
