import { events, processSettings, type ProcessSettings, type ProjectSettingsPatch, type RepairResult } from '#contracts';
import { StoredCapabilities } from '#llm-store';
import type { OutgoingMessage } from '#messaging';
import { Health } from '#observability';
import { createDataSource, SettingsDirectory, UnitOfWork } from '#persistence';
import { RuleDirectory } from '#rule-store';
import {
  answer,
  modelServer,
  testDatabase,
  type ModelRequest,
  type ModelServer,
  type Reply,
  type ScriptedCall,
  type TestDatabase,
} from '#testing';
import type { DataSource } from 'typeorm';
import { RepairDesk } from '../../services/repair/src/desk/repair-desk.js';
import { ModelHealth } from '../../services/repair/src/model/model-health.js';
import { RepairModel } from '../../services/repair/src/model/repair-model.js';
import { CandidateWriter } from '../../services/repair/src/postgres/candidate-writer.js';
import { RuleLookup } from '../../services/repair/src/postgres/rule-lookup.js';
import { WorkStore } from '../../services/repair/src/postgres/work-store.js';
import { RepairRun } from '../../services/repair/src/run/repair-run.js';
import { RunEndings } from '../../services/repair/src/run/run-endings.js';
import { TurnJournal } from '../../services/repair/src/run/turn-journal.js';
import { AddRule } from '../../services/repair/src/tools/add-rule.js';
import { EvidenceTools } from '../../services/repair/src/tools/evidence-tools.js';
import { ResolvingTools } from '../../services/repair/src/tools/resolving-tools.js';
import { RuleReads } from '../../services/repair/src/tools/rule-reads.js';
import { Toolbox } from '../../services/repair/src/tools/toolbox.js';
import { RunTraces } from '../../services/repair/src/traces-out/run-traces.js';
import { plantEpisode, type Plant, type Planted } from './repair-plant.js';

export interface Told {
  readonly id: string | null;
  readonly subject: string;
  readonly payload: Record<string, unknown>;
}

/** What the model says in one turn: tool calls, by name and arguments. */
export type Turn = readonly (readonly [name: string, args: unknown])[];

/** A worker process of its own over the scene's database, whose runs begin when the test says so. */
export interface Worker {
  readonly desk: RepairDesk;
  readonly store: WorkStore;
  readonly work: UnitOfWork;
  readonly health: Health;
  readonly traces: RunTraces;
  close(): Promise<void>;
}

/** A project with a repair model, planted episodes, and as many workers as a test opens. What they emit is checked by its schema. */
export class RepairScene {
  readonly told: Told[] = [];
  private readonly workers: Worker[] = [];
  private version = 1;
  models!: ModelServer;

  private constructor(readonly db: TestDatabase) {}

  /** A database of its own, for all tests of a file: each begins with `reset`. */
  static async open(): Promise<RepairScene> {
    return new RepairScene(await testDatabase());
  }

  /** As new: empty tables, no workers, a model that says nothing yet, one project with these settings. */
  async reset(patch: ProjectSettingsPatch = {}): Promise<void> {
    await this.end();
    this.told.length = 0;
    this.models = await modelServer();
    await this.query(`TRUNCATE ${TABLES.join(', ')}`);
    await this.query(`DELETE FROM edge.projects WHERE project <> 'default'`);
    await this.configure({ repair_model: 'our-own', ...patch });
  }

  async configure(patch: ProjectSettingsPatch, project = 'default'): Promise<void> {
    await this.query(`INSERT INTO edge.projects (project) VALUES ($1) ON CONFLICT DO NOTHING`, [project]);
    await this.query(`INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, $2, $3, 'test')`, [
      ...[project, (this.version += 1), JSON.stringify(patch)],
    ]);
  }

  async worker(patch: Partial<ProcessSettings> = {}): Promise<Worker> {
    const process = { ...processSettings.parse({}), repair_base_url: this.models.url, ...patch };
    const db = await createDataSource({ url: this.db.url, role: 'fm_repair', name: 'desk', poolSize: 8 }).initialize();
    const worker = workerOver(db, process, (messages) => this.hear(messages));
    this.workers.push(worker);
    return worker;
  }

  private hear(messages: readonly OutgoingMessage[]): void {
    for (const { id, subject, data } of messages) {
      const type = subject.split('.').slice(2).join('.');
      const event = events.find((one) => type === one.type || type.startsWith(`${one.type}.`));
      if (event === undefined) throw new Error(`nobody declares ${subject}`);
      this.told.push({ id, subject, payload: event.schema.parse(JSON.parse(String(data))) as Record<string, unknown> });
    }
  }

  /** An episode that waits for a repair. */
  async plant(plant: Plant = {}): Promise<Planted> {
    const planted = await plantEpisode(this.db, plant);
    const [opener] = await this.query<{ opened_by: string }>('SELECT opened_by FROM mailbox.incidents WHERE id = $1', [
      planted.incident,
    ]);
    if (opener?.opened_by === planted.episode) await this.enqueue(planted.episode);
    return planted;
  }

  async enqueue(...episodes: string[]): Promise<void> {
    await this.query('SELECT repair.enqueue($1)', [episodes]);
  }

  /** The model says these turns, one after the other, whatever it is asked. */
  says(...turns: (Turn | Reply)[]): void {
    this.models.script(turns.map((turn) => (typeof turn === 'function' ? turn : speaking(turn))));
  }

  /** One run, to its end. Returns its result. */
  async run(worker?: Worker): Promise<RepairResult> {
    const before = this.results().length;
    const { desk } = worker ?? this.workers[0] ?? (await this.worker());
    if (!(await desk.takeOne())) throw new Error(`nothing could be taken: ${JSON.stringify(await this.work())}`);
    await desk.ended();
    const result = this.results()[before];
    if (result === undefined) throw new Error('the run told no end');
    return result;
  }

  /** Plants an episode, and repairs it with what the model says. */
  async repaired(
    plant: Plant,
    says: (planted: Planted) => (Turn | Reply)[],
  ): Promise<RepairResult & { readonly planted: Planted }> {
    const planted = await this.plant(plant);
    this.says(...says(planted));
    return { ...(await this.run()), planted };
  }

  results(): RepairResult[] {
    return this.of('episode.settled').map(({ payload }) => payload as unknown as RepairResult);
  }

  of(type: string): Told[] {
    return this.told.filter(({ subject }) => subject.includes(`.${type}`));
  }

  /** What tools answered in the newest conversation, in order. */
  answers(): Record<string, unknown>[] {
    const messages = (this.models.requests.at(-1)?.body['messages'] ?? []) as { role: string; content: string }[];
    return messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content) as Record<string, unknown>);
  }

  /** All that is said to the model between its turns, in the newest conversation. */
  instructions(): string[] {
    const messages = (this.models.requests.at(-1)?.body['messages'] ?? []) as { role: string; content: string }[];
    return messages
      .filter(({ role }) => role === 'user')
      .slice(1)
      .map(({ content }) => content);
  }

  async journal(): Promise<string[]> {
    const rows = await this.query<{ type: string }>('SELECT type FROM journal.events ORDER BY at, id');
    return rows.map(({ type }) => type);
  }

  work(): Promise<
    { episode: string; state: string; waits_for: string | null; failures: number; runs: number; last_error: string | null }[]
  > {
    return this.query(
      'SELECT episode, state, waits_for, failures, runs, last_error FROM repair.work ORDER BY queued_at, episode',
    );
  }

  async notices(): Promise<Record<string, string>> {
    const rows = await this.query<{ id: string; status: string }>('SELECT id, status FROM mailbox.notices ORDER BY id');
    return Object.fromEntries(rows.map(({ id, status }) => [id, status]));
  }

  rules(): Promise<Record<string, unknown>[]> {
    return this.query('SELECT * FROM rules.rules ORDER BY seq');
  }

  /** A rule that is there before any repair. */
  async rule(
    id: string,
    more: { status?: string; rule?: string; scope?: string; project?: string; withdrawn?: boolean } = {},
  ): Promise<void> {
    const { status = 'active', rule = `Advice ${id}.`, scope = 'global', project = 'default', withdrawn = false } = more;
    await this.query('INSERT INTO rules.versions (project) VALUES ($1) ON CONFLICT DO NOTHING', [project]);
    const [row] = await this.query<{ version: number }>(
      'UPDATE rules.versions SET version = version + 1 WHERE project = $1 RETURNING version',
      [project],
    );
    await this.query(
      `INSERT INTO rules.rules (id, project, seq, rule, rationale, scope, author, normal_hash, status, withdrawn_at) VALUES ($1, $2, $3, $4, 'why', $5, 'test', $1, $6, $7)`,
      [id, project, row?.version, rule, scope, status, withdrawn ? new Date() : null],
    );
  }

  /** Whatever waits for its time may be tried now. */
  async later(): Promise<void> {
    await this.query('UPDATE repair.work SET run_after = now()');
  }

  /** Holds a table locked while something goes on. */
  async lock<T>(table: string, mode: string, meanwhile: () => Promise<T>): Promise<T> {
    const holder = await createDataSource({ url: this.db.url, role: null, name: 'holder', poolSize: 1 }).initialize();
    const runner = holder.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query(`LOCK TABLE ${table} IN ${mode} MODE`);
      return await meanwhile();
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
      await holder.destroy();
    }
  }

  query<Row extends object = Record<string, unknown>>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.db.query<Row>(sql, parameters);
  }

  private async end(): Promise<void> {
    for (const worker of this.workers.splice(0)) await worker.close();
    await (this.models as ModelServer | undefined)?.close();
  }

  async close(): Promise<void> {
    await this.end();
    await this.db.drop();
  }
}

/** Everything that a test leaves. */
const TABLES = [
  ...[
    'edge.settings',
    'journal.events',
    'scoring.turns',
    'scoring.turn_bodies',
    'scoring.scores',
    'scoring.spend',
    'gating.turn_evals',
  ],
  ...[
    'mailbox.session_alerts',
    'mailbox.incidents',
    'mailbox.episodes',
    'mailbox.notices',
    'rules.rules',
    'rules.scopes',
    'rules.versions',
  ],
  ...['repair.work', 'repair.runs', 'repair.outbox', 'repair.model_capabilities', 'validation.exposures'],
];

export function speaking(turn: Turn): Reply {
  const toolCalls = turn.map(([name, args], at): ScriptedCall => ({ id: `call_${at}_${name}`, name, arguments: args }));
  return answer(null, { toolCalls });
}

/** Told by what it asks about, which of several conversations a request belongs to. */
export function episodeOf(request: ModelRequest): string {
  return /e-[0-9a-f]{12}/.exec(JSON.stringify(request.body['messages']))?.[0] ?? '';
}

export const RULE = {
  rule: 'Before paying a bill, check whether it is still open; when it is paid, say so instead of paying again.',
  rationale: 'The agent paid a bill that had been paid, and reported the failed call as a success.',
};
export const add = (more: object = {}): Turn[number] => ['harness_rule_add', { ...RULE, ...more }];
export const ack = (notice: string, rule: string, more: object = {}): Turn[number] => [
  'harness_notice_ack',
  { notice_id: notice, rule_id: rule, ...more },
];
export const resolve = (notice: string, resolution: string, more: object = {}): Turn[number] => [
  'harness_notice_resolve',
  { notice_id: notice, resolution, note: 'as it is', ...more },
];
export const readNotice = (notice: string): Turn[number] => ['harness_notice_read', { notice_id: notice }];
export const inspect = (trace: string): Turn[number] => ['harness_trace_inspect', { trace_id: trace }];
export const search = (query: string): Turn[number] => ['harness_rules_search', { query }];
/** The rule that a repair of this episode writes. */
export const ruleOf = ({ episode }: Pick<Planted, 'episode'>): string => episode.replace('e-', 'r-');

function workerOver(db: DataSource, process: ProcessSettings, hear: (messages: readonly OutgoingMessage[]) => void): Worker {
  const publish = (messages: readonly OutgoingMessage[]): Promise<never[]> => {
    hear(messages);
    return Promise.resolve([]);
  };
  const work = new UnitOfWork(db, { publish }, 'repair');
  const settings = new SettingsDirectory(db, {});
  const health = new Health();
  const store = new WorkStore(work);
  const directory = new RuleDirectory({ read: work.read.bind(work), freshForMs: 0 });
  const model = new RepairModel(process, new StoredCapabilities(work, 'repair'), new ModelHealth(health));
  const toolbox = new Toolbox(
    new EvidenceTools(store),
    new RuleReads(directory),
    new AddRule(new CandidateWriter(store, directory)),
    new ResolvingTools(new RuleLookup(work)),
  );
  const { repair_traces_url: url, repair_traces_headers: headers } = process;
  const traces = new RunTraces(url === undefined ? null : { url, headers });
  const run = new RepairRun(store, toolbox, new RunEndings(work, store), new TurnJournal(work), model, traces);
  const desk = new RepairDesk(work, store, settings, run, model, { slots: process.max_concurrent_repairs, graceMs: 0 });
  return {
    ...{ desk, store, work, health, traces },
    close: async () => {
      await desk.stop();
      await db.destroy();
    },
  };
}
