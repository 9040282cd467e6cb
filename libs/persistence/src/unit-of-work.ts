import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import type { StreamPublisher } from '#messaging';
import type { EventContract, ServiceName } from '#contracts';
import { classifyDatabaseError, isWorthRerunning } from './errors.js';
import { message, outboxRow, type Emission, type OutboxRow } from './outbox-row.js';
import { OutboxSweeper } from './outbox-sweeper.js';
import { query } from './query.js';

/** One line of the journal. `id` is derived from what caused it: the same cause is written once. */
export interface JournalEntry {
  readonly id: string;
  readonly project: string;
  readonly type: string;
  readonly s?: string | null;
  readonly session?: string | null;
  readonly t?: number | null;
  readonly episode?: string | null;
  readonly rule?: string | null;
  readonly doc?: Readonly<Record<string, unknown>>;
}

/** What a handler does inside its one transaction. Emissions and journal lines are written with it, in one statement each. */
export interface Transaction {
  query<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  emit<C extends EventContract>(emission: Emission<C>): void;
  journal(entry: JournalEntry): void;
}

const RERUNS = 50;
/** Published rows are deleted by the next transaction; when none comes, by this timer. */
const IDLE_MS = 1_000;
const SWEEP_MS = 5_000;
const FULL_PAUSE_MS = 1_000;

/**
 * The transaction of every batch (DATAFLOW, steps 3 to 8): the handler's work, its outbox and journal rows, one commit; then
 * publication. What could not be published stays in the outbox for the sweeper.
 */
export class UnitOfWork {
  /** Ids whose rows are published and not deleted yet; whoever deletes them takes them out. */
  private readonly published: string[] = [];
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly sweeper: OutboxSweeper;
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly db: DataSource,
    private readonly publisher: StreamPublisher,
    private readonly service: ServiceName,
    /** Told when rows older than the sweeper's age cannot be published (null: they are gone), so that nobody waits in silence. */
    private readonly onStuck: (detail: string | null) => void = () => undefined,
  ) {
    this.sweeper = new OutboxSweeper(db, publisher, service);
  }

  start(): void {
    this.timers.push(setInterval(() => void this.background(() => this.flushPublished()), IDLE_MS));
    this.timers.push(setInterval(() => void this.background(() => this.sweep()), SWEEP_MS));
  }

  async stop(): Promise<void> {
    this.timers.splice(0).forEach((timer) => clearInterval(timer));
    await this.sweeping;
    await this.flushPublished().catch(() => undefined);
  }

  /** Reads outside any transaction: for questions whose answer often is that there is nothing to do. */
  async read<Row>(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.db.query<Row[]>(sql, [...parameters]);
    } catch (error) {
      throw classifyDatabaseError(error);
    }
  }

  /** Runs `work` in one transaction; deadlocks, serialization failures and lost creation races run it again. */
  async run<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    for (let reruns = 0; ; reruns += 1) {
      try {
        return await this.once(work);
      } catch (error) {
        if (!isWorthRerunning(error) || reruns >= RERUNS) throw classifyDatabaseError(error);
        await sleep(randomInt(1, 10 + 5 * reruns));
      }
    }
  }

  private async once<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const runner = this.db.createQueryRunner();
    // Taken, not shared: what others publish from here on is not in the DELETE below, and two that delete the same rows would wait
    // for each other.
    const done = this.published.splice(0);
    const rows: OutboxRow[] = [];
    const journal: JournalEntry[] = [];
    try {
      await runner.startTransaction();
      const result = await work({
        query: async <Row>(sql: string, parameters: readonly unknown[] = []) => (await query(runner, sql, parameters)) as Row[],
        emit: (emission) => void rows.push(outboxRow(emission)),
        journal: (entry) => void journal.push(entry),
      });
      await this.write(runner, rows, journal, done);
      await runner.commitTransaction();
      done.length = 0;
      await this.publish(rows);
      return result;
    } catch (error) {
      this.published.push(...done);
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release().catch(() => undefined);
    }
  }

  private async write(
    runner: QueryRunner,
    rows: readonly OutboxRow[],
    journal: readonly JournalEntry[],
    done: readonly string[],
  ): Promise<void> {
    if (rows.length > 0) {
      await query(
        runner,
        `INSERT INTO ${this.service}.outbox (id, subject, headers, payload)
         SELECT id, subject, headers, payload FROM unnest($1::text[], $2::text[], $3::jsonb[], $4::text[]) AS r(id, subject, headers, payload)
         ON CONFLICT (id) DO NOTHING`,
        [
          rows.map((row) => row.id),
          rows.map((row) => row.subject),
          rows.map((row) => row.headers),
          rows.map((row) => row.payload),
        ],
      );
    }
    if (journal.length > 0) await query(runner, INSERT_JOURNAL, [JSON.stringify(journal)]);
    if (done.length > 0) await query(runner, `DELETE FROM ${this.service}.outbox WHERE id = ANY($1::text[])`, [done]);
  }

  /** A stream that refuses because it is full slows its publisher down: the backlog stays where it is, on the broker. */
  private async publish(rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    const failures = await this.publisher.publish(rows.map(message));
    const failed = new Set(failures.map(({ index }) => index));
    for (const [index, row] of rows.entries()) if (!failed.has(index)) this.published.push(row.id);
    if (failures.some(({ full }) => full)) await sleep(FULL_PAUSE_MS);
  }

  private async sweep(): Promise<void> {
    this.onStuck(await this.sweeper.sweep(() => this.published));
  }

  private async flushPublished(): Promise<void> {
    const done = this.published.splice(0);
    if (done.length === 0) return;
    try {
      await this.db.query(`DELETE FROM ${this.service}.outbox WHERE id = ANY($1::text[])`, [done]);
    } catch (error) {
      this.published.push(...done);
      throw error;
    }
  }

  /** One background job at a time; a database that is away is noticed, and said, by the consumers. */
  private background(job: () => Promise<void>): Promise<void> {
    if (this.sweeping !== undefined) return this.sweeping;
    this.sweeping = job()
      .catch(() => undefined)
      .finally(() => {
        this.sweeping = undefined;
      });
    return this.sweeping;
  }
}

const INSERT_JOURNAL = `INSERT INTO journal.events (id, project, type, s, session, t, episode, rule, doc)
  SELECT DISTINCT ON (id) id, project, type, s, session, t, episode, rule, coalesce(doc, '{}')
  FROM json_to_recordset($1::json) AS r(id text, project text, type text, s uuid, session text, t bigint, episode text, rule text, doc jsonb)
  ON CONFLICT DO NOTHING`;
