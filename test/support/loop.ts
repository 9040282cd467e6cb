import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkInvariants, finalState, firstDifference, Restlessness, type FinalState } from '#checker';
import {
  requiredConsumers,
  deadLetter,
  LIVE_PREFIX,
  projectSettings,
  scorePosted,
  SUBJECT_ROOT,
  turnEnded,
  turnEvaluated,
  type ProjectSettingsPatch,
  type Report,
} from '#contracts';
import { canonicalJson } from '#domain/text';
import { connectNats, JetStreamPublisher } from '#messaging/jetstream';
import type { OutgoingMessage } from '#messaging';
import type { TurnInput } from '#recordings';
import { provision } from '#service';
import { ServiceProcess } from './service-process.js';

export const LOOP_SERVICES = ['scoring', 'gating', 'mailbox', 'repair', 'validation'] as const;

export interface LoopOptions {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly ackWaitMs?: number;
  /** How many processes of each service. */
  readonly copies?: number;
  /** Under every project's own settings. */
  readonly settings?: ProjectSettingsPatch;
  /** Further variables of every service's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

const PUBLISH_BATCH = 200;

/** The loop as it runs in production: every service a process of its own, on real servers. */
export class Loop {
  readonly services: ServiceProcess[];
  /** Distinct turns that the stream acknowledged. */
  readonly acknowledged = new Set<string>();

  private constructor(
    private readonly options: LoopOptions,
    readonly nats: NatsConnection,
    private readonly publisher: JetStreamPublisher,
    readonly db: pg.Pool,
  ) {
    const env = serviceEnv(options);
    const names = LOOP_SERVICES.flatMap((name) => Array.from({ length: options.copies ?? 1 }, () => name));
    // Repair takes episodes up and repairs nothing: what a loop found is to be looked at as it was found.
    const idle = { ...env, FLEETMEND_OBSERVE_ONLY: 'true' };
    this.services = names.map((name) => new ServiceProcess(name, name === 'repair' ? idle : env));
  }

  static async open(options: LoopOptions): Promise<Loop> {
    const { natsUrl, databaseUrl, ackWaitMs = 10_000 } = options;
    await provision({ natsUrl, databaseUrl, ackWaitMs });
    const nats = await connectNats({ url: natsUrl, name: 'test' });
    const db = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    db.on('error', () => undefined);
    return new Loop(options, nats, new JetStreamPublisher(nats, 'test'), db);
  }

  start(): void {
    for (const service of this.services) service.start();
  }

  /** Creates a project; its settings are those of the loop and `own`. */
  async createProject(project: string, own: ProjectSettingsPatch = {}): Promise<void> {
    const doc = { ...this.options.settings, ...own };
    projectSettings.parse(doc);
    await this.db.query('INSERT INTO edge.projects (project) VALUES ($1) ON CONFLICT DO NOTHING', [project]);
    await this.db.query("INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, 1, $2, 'test')", [project, doc]);
    // Services read the projects once a second.
    await sleep(1_100);
  }

  /** Publishes turns, each until it is acknowledged. */
  async publish(project: string, turns: readonly TurnInput[]): Promise<void> {
    for (let from = 0; from < turns.length; from += PUBLISH_BATCH) {
      const batch = turns.slice(from, from + PUBLISH_BATCH);
      await this.send(batch.map((turn) => ({ id: null, subject: turnEnded.subject(project), data: JSON.stringify(turn) })));
      for (const turn of batch) this.accepted(project, turn);
    }
  }

  /** The stream has acknowledged a turn. */
  accepted(project: string, { session_id: session, turn_index: t }: TurnInput): void {
    this.acknowledged.add(`${project}|${session}|${t}`);
  }

  async publishOutcome(project: string, turn: TurnInput, value: number): Promise<void> {
    const payload = { session_id: turn.session_id, turn_index: turn.turn_index, scores: [{ metric: 'outcome_correct', value }] };
    await this.send([{ id: null, subject: scorePosted.subject(project), data: JSON.stringify(payload) }]);
  }

  /** Publishes until everything is stored; a broker that is away is waited for. */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    let open = messages;
    while (open.length > 0) {
      const failures = await this.publisher.publish(open);
      open = failures.map(({ index }) => open[index] as OutgoingMessage);
      if (open.length > 0) await sleep(200);
    }
  }

  /** Waits until nothing is under way any more. */
  async quiet(withinMs = 60_000): Promise<void> {
    const until = Date.now() + withinMs;
    const watch = new Restlessness(this.options);
    let unrest: string[] = [];
    for (let still = 0; still < 2;) {
      try {
        unrest = [...(await watch.look()), ...(await this.waitingValues())];
      } catch (error) {
        unrest = [error instanceof Error ? error.message : String(error)];
      }
      still = unrest.length === 0 ? still + 1 : 0;
      if (still < 2 && Date.now() > until) throw new Error(await this.unrest(unrest));
      await sleep(150);
    }
  }

  /** Values that models or others are still to make. What nobody can make is at rest, and a verifier may be away for long. */
  private async waitingValues(): Promise<string[]> {
    const rows = await this.rows<{ job: string }>(
      `SELECT provider || ' of ' || project || ', ' || count(*) || ' jobs, leased until ' || coalesce(max(leased_until)::text, 'never') || coalesce(': ' || max(last_error), '') AS job
       FROM scoring.score_jobs WHERE lane <> 'verifier' AND run_after < 'infinity' GROUP BY project, provider`,
    );
    return rows.map(({ job }) => `expected no jobs of ${job}`);
  }

  /** Where work is stuck: who asks the broker for it, and what the database is waiting for. */
  private async unrest(lines: readonly string[]): Promise<string> {
    const manager = await jetstreamManager(this.nats);
    const held = await Promise.all(
      requiredConsumers.map(async ({ durable, event }) => {
        const { state } = await manager.streams.info(event.stream, { subjects_filter: event.pattern });
        const stored = Object.values(state.subjects ?? {}).reduce((sum, number) => sum + number, 0);
        const { num_waiting, num_pending, num_ack_pending, num_redelivered, ack_floor } = await manager.consumers.info(
          event.stream,
          durable,
        );
        return JSON.stringify({
          durable,
          num_waiting,
          num_pending,
          num_ack_pending,
          num_redelivered,
          stored,
          floor: ack_floor.stream_seq,
        });
      }),
    ).catch((error: unknown) => [String(error)]);
    const busy = await this.rows(
      "SELECT pid, application_name, state, wait_event_type, wait_event, xact_start, left(query, 120) AS query FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'",
    ).catch((error: unknown) => [String(error)]);
    return ['the loop is not at rest:', ...lines, ...held, ...busy.map((row) => JSON.stringify(row)), this.output()].join('\n');
  }

  /** What the services said last, for a person who looks for the reason of a failure. */
  output(): string {
    return this.services.map(({ name, output }) => `--- ${name}\n${output.split('\n').slice(-15).join('\n')}`).join('\n');
  }

  async violations(): Promise<string[]> {
    const { violations } = await checkInvariants({ ...this.options, expected: this.acknowledged.size });
    return violations.map(({ invariant, detail }) => `${invariant}: ${detail}`);
  }

  async state(project: string): Promise<FinalState> {
    const states = await finalState({ databaseUrl: this.options.databaseUrl, project });
    return states.get(project) ?? { digest: '', lines: [] };
  }

  async rows<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.db.query<Row>(sql, [...parameters])).rows;
  }

  /** How many messages of a project were put aside, by subject. */
  async deadLetters(project: string): Promise<Record<string, number>> {
    const manager = await jetstreamManager(this.nats);
    const { state } = await manager.streams.info(deadLetter.stream, { subjects_filter: deadLetter.subject(project, '*') });
    return state.subjects ?? {};
  }

  /** Collects the ids of posted notices as subscribers of everything about notices see them. */
  watchNotices(project: string): string[] {
    const ids: string[] = [];
    this.nats.subscribe(`${LIVE_PREFIX}.${SUBJECT_ROOT}.${project}.notice.>`, {
      callback: (_error, message) => {
        if (message.subject.includes('.notice.posted.')) ids.push(message.json<{ id: string }>().id);
      },
    });
    return ids;
  }

  /** Revisions of reports that say the same as the one before, in whatever order their fields are. */
  async idleRevisions(project: string): Promise<string[]> {
    const said = new Map<string, string>();
    const idle: string[] = [];
    for (const { revision, ...content } of await this.reports(project)) {
      const turn = `${content.session_id} turn ${content.turn_index}`;
      const now = canonicalJson(content);
      if (said.get(turn) === now) idle.push(`${turn} revision ${revision}`);
      said.set(turn, now);
    }
    return idle;
  }

  /** Every report of a project in the stream, as published. */
  private async reports(project: string): Promise<Report[]> {
    const consumer = await jetstream(this.nats).consumers.get(turnEvaluated.stream, {
      filter_subjects: turnEvaluated.subject(project),
    });
    const { num_pending: total } = await consumer.info();
    const reports: Report[] = [];
    if (total === 0) return reports;
    for await (const message of await consumer.fetch({ max_messages: total, expires: 10_000 }))
      reports.push(message.json<Report>());
    return reports;
  }

  async close(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
    this.publisher.close();
    await this.nats.close();
    await this.db.end();
  }
}

/** What a service's process needs to know. */
export function serviceEnv({ natsUrl, databaseUrl, ackWaitMs = 10_000, env = {} }: LoopOptions): Record<string, string> {
  return {
    ...{ NATS_URL: natsUrl, DATABASE_URL: databaseUrl },
    ...{ FLEETMEND_LOG_LEVEL: 'info', FLEETMEND_ACK_WAIT_MS: String(ackWaitMs) },
    ...env,
  };
}

/** The first difference, for a failure's message; undefined when both are the same. */
export function difference(one: FinalState, other: FinalState): string | undefined {
  return firstDifference(one, other) ?? undefined;
}
