import type { DataSource } from 'typeorm';
import type { PublishFailure, StreamPublisher } from '#messaging';
import type { ServiceName } from '#contracts';
import { message, type OutboxRow } from './outbox-row.js';
import { query } from './query.js';

const SWEEP_AGE_S = 10;
const SWEEP_ROWS = 200;

type SweepFailure = PublishFailure & { readonly id: string };

interface Swept {
  readonly rows: number;
  readonly failed: readonly SweepFailure[];
}

/** A page of which nothing went out, for reasons that are not the rows' own: the broker is away or full, and the next page fares the same. */
function worthGoingOn({ rows, failed }: Swept): boolean {
  return failed.length < rows || failed.every(({ hopeless }) => hopeless);
}

const NAMED_IDS = 3;

function stuckText(failed: readonly SweepFailure[]): string | null {
  const hopeless = failed.filter((one) => one.hopeless);
  const [first] = hopeless.length > 0 ? hopeless : failed;
  if (first === undefined) return null;
  const ids = hopeless.slice(0, NAMED_IDS).map(({ id }) => id);
  const never = ids.length === 0 ? '' : ` (${hopeless.length} of them never, among these ${ids.join(', ')})`;
  return `${failed.length} events cannot be published${never}: ${first.reason}`;
}

/** Sees to it that what a transaction committed is published in the end, whoever committed it. */
export class OutboxSweeper {
  constructor(
    private readonly db: DataSource,
    private readonly publisher: StreamPublisher,
    private readonly service: ServiceName,
  ) {}

  /**
   * Publishes what a killed process left behind, or what a full stream refused, until nothing old is left. Rows that fail are
   * passed over, so that one that can never be published does not keep those behind it waiting.
   * `published`: ids whose rows are only waiting to be deleted. Returns what is stuck, or null.
   */
  async sweep(published: () => readonly string[]): Promise<string | null> {
    const failed: SweepFailure[] = [];
    let more = true;
    while (more) {
      const swept = await this.page([...published(), ...failed.map(({ id }) => id)]);
      failed.push(...swept.failed);
      more = swept.rows === SWEEP_ROWS && worthGoingOn(swept);
    }
    return stuckText(failed);
  }

  /** Several processes share the work: locked rows are skipped. */
  private async page(passedOver: readonly string[]): Promise<Swept> {
    const runner = this.db.createQueryRunner();
    try {
      await runner.startTransaction();
      const rows = (await query(
        runner,
        `SELECT id, subject, headers, payload FROM ${this.service}.outbox
         WHERE created_at < now() - make_interval(secs => $1) AND NOT id = ANY($2::text[]) ORDER BY seq LIMIT ${SWEEP_ROWS} FOR UPDATE SKIP LOCKED`,
        [SWEEP_AGE_S, passedOver],
      )) as OutboxRow[];
      const failures = await this.publisher.publish(rows.map(message));
      const failed = failures.flatMap((failure) => {
        const row = rows[failure.index];
        return row === undefined ? [] : [{ ...failure, id: row.id }];
      });
      const kept = new Set(failed.map(({ id }) => id));
      const sent = rows.map(({ id }) => id).filter((id) => !kept.has(id));
      if (sent.length > 0) await query(runner, `DELETE FROM ${this.service}.outbox WHERE id = ANY($1::text[])`, [sent]);
      await runner.commitTransaction();
      return { rows: rows.length, failed };
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      await runner.release().catch(() => undefined);
    }
  }
}
