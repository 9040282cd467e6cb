import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { cloudEventHeaders, type OutgoingMessage, type StreamPublisher } from '#messaging';
import type { EventContract, PayloadOf, ServiceName } from '#contracts';
import { classifyDatabaseError, isWorthRerunning } from './errors.js';

export interface Emission<C extends EventContract = EventContract> {
  readonly event: C;
  readonly id: string;
  readonly project: string;
  readonly tail?: readonly string[];
  /** Trace context of what caused it. */
  readonly traceparent?: string | undefined;
  readonly payload: PayloadOf<C>;
}

/** One line of the journal. `id` is derived from what caused it: the same cause is written once. */
export interface JournalEntry {
  readonly id: string;
  readonly project: string;
  readonly type: string;
  readonly s?: string | null;
  readonly session?: string | null;
  readonly t?: number | null;
  readonly episode?: string | null;
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
const SWEEP_AGE_S = 10;
const SWEEP_ROWS = 200;
const FULL_PAUSE_MS = 1_000;

interface OutboxRow {
  readonly id: string;
  readonly subject: string;
  readonly headers: Record<string, string> | null;
  readonly payload: string;
}

/**
 * The transaction of every batch (DATAFLOW, steps 3 to 8): the handler's work, its outbox and journal rows, one commit; then
 * publication. What could not be published stays in the outbox for the sweeper.
 */
export class UnitOfWork {
  private published: string[] = [];
  private readonly timers: NodeJS.Timeout[] = [];
  private sweeping: Promise<void> | undefined;

  constructor(
    private readonly db: DataSource,
    private readonly publisher: StreamPublisher,
    private readonly service: ServiceName,
    /** Told when rows older than the sweeper's age cannot be published (null: they are gone), so that nobody waits in silence. */
    private readonly onStuck: (detail: string | null) => void = () => undefined,
  ) {}

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
    const done = this.published;
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
      this.forget(done);
      await this.publish(rows);
      return result;
    } catch (error) {
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

  private async flushPublished(): Promise<void> {
    const done = this.published;
    if (done.length === 0) return;
    await this.db.query(`DELETE FROM ${this.service}.outbox WHERE id = ANY($1::text[])`, [done]);
    this.forget(done);
  }

  private forget(done: readonly string[]): void {
    if (done.length === 0) return;
    const gone = new Set(done);
    this.published = this.published.filter((id) => !gone.has(id));
  }

  /** Publishes what a killed process left behind, or what a full stream refused, until nothing old is left. */
  private async sweep(): Promise<void> {
    let progress = true;
    while (progress) progress = await this.sweepOnce();
  }

  /** Several processes share the work: locked rows are skipped. Returns whether there may be more. */
  private async sweepOnce(): Promise<boolean> {
    const runner = this.db.createQueryRunner();
    try {
      await runner.startTransaction();
      const rows = (await query(
        runner,
        `SELECT id, subject, headers, payload FROM ${this.service}.outbox
         WHERE created_at < now() - make_interval(secs => $1) AND NOT id = ANY($2::text[]) ORDER BY seq LIMIT ${SWEEP_ROWS} FOR UPDATE SKIP LOCKED`,
        [SWEEP_AGE_S, this.published],
      )) as OutboxRow[];
      const failures = await this.publisher.publish(rows.map(message));
      const failed = new Set(failures.map(({ index }) => index));
      const sent = rows.filter((_, index) => !failed.has(index)).map(({ id }) => id);
      if (sent.length > 0) await query(runner, `DELETE FROM ${this.service}.outbox WHERE id = ANY($1::text[])`, [sent]);
      await runner.commitTransaction();
      this.onStuck(failures[0] === undefined ? null : `${failures.length} events cannot be published: ${failures[0].reason}`);
      return rows.length === SWEEP_ROWS && failures.length === 0;
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      await runner.release().catch(() => undefined);
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

const INSERT_JOURNAL = `INSERT INTO journal.events (id, project, type, s, session, t, episode, doc)
  SELECT DISTINCT ON (id) id, project, type, s, session, t, episode, coalesce(doc, '{}')
  FROM json_to_recordset($1::json) AS r(id text, project text, type text, s uuid, session text, t bigint, episode text, doc jsonb)
  ON CONFLICT DO NOTHING`;

/** Structured, because TypeORM's plain answer to UPDATE and DELETE is a pair rather than rows. */
async function query(runner: QueryRunner, sql: string, parameters: readonly unknown[]): Promise<unknown[]> {
  const result = (await runner.query(sql, [...parameters], true)) as { records?: unknown[] };
  return result.records ?? [];
}

function outboxRow({ event, id, project, tail = [], payload, traceparent }: Emission): OutboxRow {
  const subject = event.subject(project, ...tail);
  const outside =
    event.audience === 'outside' ? cloudEventHeaders({ id, type: event.type, project, subject, at: Date.now() }) : null;
  const headers = traceparent === undefined ? outside : { ...outside, traceparent };
  return { id, subject, headers, payload: JSON.stringify(payload) };
}

function message({ id, subject, headers, payload }: OutboxRow): OutgoingMessage {
  return { id, subject, data: payload, headers: headers ?? undefined };
}
