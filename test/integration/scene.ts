import { processSettings, type ProcessSettings, type ProjectSettingsPatch } from '#contracts';
import { answerJson, modelServer, type ModelRequest, type ModelServer, type Reply, type Script } from '#testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { JobDesk } from './job-desk.js';
import { Pipeline } from './pipeline.js';

/** A prompt of ours, told by the name of the schema that it asks for. */
export function asks(request: ModelRequest): string {
  const format = request.body['response_format'] as { json_schema?: { name?: string } } | undefined;
  return format?.json_schema?.name ?? '';
}

/** Says yes to everything: whatever a stage asks for is in it. */
export function saying(value: number, more: object = {}): Reply {
  return answerJson({ task: 'find the parcel', outcome: 'it was found', verdict: value, reason: 'so it was', ...more });
}

/** One project with a judge, a database, a model server, and as many workers as a test opens. */
export class Scene {
  private readonly desks: JobDesk[] = [];

  private constructor(
    readonly pipeline: Pipeline,
    readonly models: ModelServer,
  ) {}

  static async open(patch: ProjectSettingsPatch = {}, script: Script = () => saying(0.8)): Promise<Scene> {
    const judged = { judge_model: 'gpt-4o-mini', tier1_metrics: ['task_completion'], ...patch };
    return new Scene(await Pipeline.open(judged), await modelServer(script));
  }

  /** A project beside the first one. */
  async project(project: string, patch: ProjectSettingsPatch): Promise<void> {
    await this.query('INSERT INTO edge.projects (project) VALUES ($1)', [project]);
    await this.settings(project, 1, patch);
  }

  async settings(project: string, version: number, patch: ProjectSettingsPatch): Promise<void> {
    await this.query(`INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, $2, $3, 'test')`, [
      ...[project, version, JSON.stringify(patch)],
    ]);
  }

  async desk(patch: Partial<ProcessSettings> = {}, nats?: NatsConnection): Promise<JobDesk> {
    const process = { ...processSettings.parse({}), judge_base_url: this.models.url, ...patch };
    const desk = await JobDesk.open(this.pipeline, process, nats === undefined ? {} : { nats });
    this.desks.push(desk);
    return desk;
  }

  /** What scoring has answered, in order. */
  answers(tier?: number): Record<string, unknown>[] {
    const all = this.pipeline.of('.trace.scored').map(({ payload }) => payload);
    return all.filter((payload) => tier === undefined || payload['tier'] === tier);
  }

  health(): Record<string, unknown>[] {
    return this.pipeline.of('health').map(({ payload }) => payload);
  }

  query<Row extends object = Record<string, unknown>>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.pipeline.db.query<Row>(sql, parameters);
  }

  async journal(): Promise<string[]> {
    const rows = await this.query<{ type: string }>('SELECT type FROM journal.events ORDER BY at, id');
    return rows.map(({ type }) => type);
  }

  /** How many there are, without those that look whether a verifier has come. */
  async jobs(): Promise<number> {
    const [row] = await this.query<{ n: number }>(`SELECT count(*)::int AS n FROM scoring.score_jobs WHERE lane <> 'verifier'`);
    return row?.n ?? -1;
  }

  /** Whatever rests or is put off may be tried now. */
  async later(): Promise<void> {
    await this.query('UPDATE scoring.provider_blocks SET probe_at = now()');
    await this.query('UPDATE scoring.score_jobs SET run_after = now()');
  }

  async close(): Promise<void> {
    for (const desk of this.desks) await desk.close();
    await this.pipeline.close();
    await this.models.close();
  }
}

/** A turn of session `s` with one trace, on which every judge has something to say. */
export function turn(turn_index: number, more: object = {}): Record<string, unknown> {
  return { session_id: 's', turn_index, status: 'completed', traces: [trace(`t${turn_index}`)], ...more };
}

export function trace(trace_id: string, more: object = {}): Record<string, unknown> {
  const text = { input: 'where is my parcel', output: 'it is here' };
  return { trace_id, started_at: 1_790_000_000 + Number(/\d+/.exec(trace_id)?.[0] ?? 0), ...text, spans: [], ...more };
}

/** A call of a tool that is in nobody's catalogue. */
export function call(span_id: string, more: object = {}): Record<string, unknown> {
  return {
    span_id,
    name: 'pay',
    kind: 'TOOL',
    status: 'OK',
    input: { amount: 1 },
    output: 'paid',
    started_at: 1_790_000_000,
    ...more,
  };
}
