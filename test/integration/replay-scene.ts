import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  processSettings,
  replayFinished,
  replayRequested,
  replayStarted,
  replayTurn,
  ruleExposed,
  type ProjectSettingsPatch,
  type ReplayRequested,
} from '#contracts';
import { sessionKey } from '#domain/ids';
import type { RunningService } from '#service';
import { eventually, testDatabase, testNats, type TestDatabase, type TestNats } from '#testing';
import { startGateway, type RunningGateway } from '../../services/gateway/src/start.js';
import { startScoring } from '../../services/scoring/src/scoring.module.js';
import { startValidation } from '../../services/validation/src/validation.module.js';

const PROJECT = 'default';

/** What a worker does with a request; it gets what it needs to say so. */
export type Behaviour = (request: ReplayRequested, host: ReplayHost) => Promise<void>;

/** Scoring and validation on real servers; the test is the host with its replay worker, and the gateway that tells of reads. */
export class ReplayScene {
  private stopping = false;
  private working: Promise<void> = Promise.resolve();

  private constructor(
    readonly db: TestDatabase,
    private readonly broker: TestNats,
    readonly nats: NatsConnection,
    private readonly services: readonly (RunningService | RunningGateway)[],
    readonly url: string,
  ) {}

  static async open(settings: ProjectSettingsPatch = {}): Promise<ReplayScene> {
    const [db, broker] = [await testDatabase(), await testNats()];
    await db.query(`INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, 1, $2, 'test')`, [
      ...[PROJECT, JSON.stringify({ tier1_metrics: ['task_completion'], tier2_metrics: ['tool_correctness'], ...settings })],
    ]);
    await db.query('INSERT INTO rules.versions (project, version) VALUES ($1, 1)', [PROJECT]);
    const process = processSettings.parse({
      ...{ nats_url: broker.url, database_url: db.url, http_port: 0, log_level: 'silent' },
    });
    const loaded = { process, projects: {} };
    const gateway = await startGateway(loaded);
    const services = [gateway, await startScoring(loaded), await startValidation(loaded)];
    return new ReplayScene(db, broker, await broker.connect(), services, gateway.url);
  }

  async candidate(id: string, text = id): Promise<void> {
    await this.db.query(
      `INSERT INTO rules.rules (id, project, seq, rule, rationale, metric, scope, author, normal_hash) VALUES ($1, $2, 1, $3, '', 'tool_correctness', 'refunds', 'repair', $1)`,
      [id, PROJECT, text],
    );
  }

  async case(
    id: string,
    kind: 'failure' | 'win' = 'failure',
    baseline: Record<string, number> = { tool_correctness: 0 },
    input: object = { case: id },
  ): Promise<void> {
    await this.db.query(
      `INSERT INTO evalset.cases (id, project, s, session, kind, signatures, baseline, replay_input, notes) VALUES ($1, $2, $3, $1, $4, '{breach:tool_correctness}', $5, $6, '')`,
      [id, PROJECT, sessionKey(PROJECT, id), kind, JSON.stringify(baseline), JSON.stringify(input)],
    );
  }

  get natsUrl(): string {
    return this.broker.url;
  }

  /** One worker, which waits for requests as a client does; their queue is there from the first one on. */
  work(behaviour: Behaviour): void {
    const host = new ReplayHost(this.nats);
    this.working = (async () => {
      const find = async () =>
        this.stopping ? 'stopped' : await jetstream(this.nats).consumers.get(replayRequested.stream, `replays-${PROJECT}`);
      const consumer = await eventually(find, 120_000);
      if (consumer === 'stopped') return;
      while (!this.stopping) {
        // A busy machine misses heartbeats: the next pull is another one.
        const message = await consumer.next({ expires: 1_000 }).catch(() => null);
        if (message === null) continue;
        message.ack();
        await behaviour(message.json<ReplayRequested>(), host);
      }
    })();
  }

  async pairs(): Promise<{ state: string; reason: string | null }[]> {
    return this.db.query('SELECT state, reason FROM validation.pairs ORDER BY number');
  }

  async replays(): Promise<{ case_id: string; state: string; reason: string | null }[]> {
    return this.db.query('SELECT case_id, state, reason FROM validation.replays ORDER BY requested_at, replay');
  }

  async status(rule: string): Promise<string | undefined> {
    const [row] = await this.db.query<{ status: string }>('SELECT status FROM rules.rules WHERE id = $1', [rule]);
    return row?.status;
  }

  async http(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${this.url}${path}`, { method, ...init });
    return { status: response.status, body: await response.json() };
  }

  async close(): Promise<void> {
    this.stopping = true;
    const worked = await Promise.allSettled([this.working]);
    for (const service of this.services) await service.stop();
    await this.broker.drop();
    await this.db.drop();
    for (const result of worked) if (result.status === 'rejected') throw result.reason;
  }
}

let reads = 0;

export class ReplayHost {
  constructor(private readonly nats: NatsConnection) {}

  /** Reads the rules: what the gateway tells of it. */
  async read(request: ReplayRequested, rule: string): Promise<void> {
    const shown = request.candidate_rule_id === rule;
    await this.publish(ruleExposed.subject(PROJECT), {
      ...{ read_id: `read-${(reads += 1)}`, session_id: request.session_id, turn_index: null, kind: 'read', version: 1, at: 1 },
      ...{ rule_ids: shown ? [rule] : [], withheld_ids: shown ? [] : [rule] },
    });
  }

  /** A turn whose one tool call works, or fails; or a turn without any trace. */
  async turn(request: ReplayRequested, works: boolean | null, session = request.session_id): Promise<void> {
    const started = '2026-01-01T00:00:00Z';
    const span = {
      ...{ span_id: 'c1', name: 'refund', kind: 'TOOL', input: { cents: 100 }, output: works ? { done: true } : 'Error: no' },
      ...{ status: works ? 'OK' : 'ERROR', started_at: started },
    };
    const trace = { trace_id: 't1', started_at: started, input: 'Refund it.', output: 'It is refunded.', spans: [span] };
    await this.publish(replayTurn.subject(PROJECT), {
      ...{ replay_id: request.replay_id, session_id: session, turn_index: 0, status: 'completed', tools: [{ name: 'refund' }] },
      ...(works === null ? {} : { traces: [trace] }),
    });
  }

  async started(request: ReplayRequested): Promise<void> {
    await this.publish(replayStarted.subject(PROJECT), { replay_id: request.replay_id });
  }

  async finished(request: ReplayRequested, more: object = { turn_index: 0 }): Promise<void> {
    await this.publish(replayFinished.subject(PROJECT), {
      replay_id: request.replay_id,
      session_id: request.session_id,
      ...more,
    });
  }

  private async publish(subject: string, payload: object): Promise<void> {
    await jetstream(this.nats).publish(subject, JSON.stringify(payload));
  }
}
