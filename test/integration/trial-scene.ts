import type { DataSource } from 'typeorm';
import type { PayloadOf, ProjectSettingsPatch, ruleExposed, turnEvaluated } from '#contracts';
import { armOf, type Arm } from '#domain/evidence';
import { sessionKey } from '#domain/ids';
import type { Delivery, OutgoingMessage } from '#messaging';
import { createDataSource, SettingsDirectory, UnitOfWork } from '#persistence';
import { testDatabase, type TestDatabase } from '#testing';
import { RuleExposedHandler } from '../../services/validation/src/handlers/rule-exposed.handler.js';
import { SessionEndedHandler } from '../../services/validation/src/handlers/session-ended.handler.js';
import { TrialTimer } from '../../services/validation/src/handlers/trial-timer.js';
import { TurnEvaluatedHandler } from '../../services/validation/src/handlers/turn-evaluated.handler.js';
import { EntryStore } from '../../services/validation/src/postgres/entry-store.js';
import { ExposureStore } from '../../services/validation/src/postgres/exposure-store.js';
import { TrialQueue } from '../../services/validation/src/postgres/trial-queue.js';
import { TrialStore } from '../../services/validation/src/postgres/trial-store.js';
import { VerdictStore } from '../../services/validation/src/postgres/verdict-store.js';
import { TrialDesk } from '../../services/validation/src/trials/trial-desk.js';

const PROJECT = 'default';

/** One validation worker: its handlers over its own connection. */
interface Worker {
  readonly exposed: RuleExposedHandler;
  readonly reports: TurnEvaluatedHandler;
  readonly ends: SessionEndedHandler;
  readonly timer: TrialTimer;
}

export interface Turn {
  readonly fired?: readonly string[];
  readonly skipped?: boolean;
  readonly final?: boolean;
  /** False: accepted, and not judged yet. */
  readonly reported?: boolean;
  readonly revision?: number;
}

/** Validation's own handlers over a real database; scoring's and gating's rows are planted, and the broker is a list. */
export class TrialScene {
  readonly events: { readonly subject: string; readonly payload: Record<string, unknown> }[] = [];
  private readonly sources: DataSource[] = [];
  private readonly workers: Worker[] = [];
  private clockUs = Date.now() * 1000;
  private next = 0;
  private salt = '';

  private constructor(readonly db: TestDatabase) {}

  static async open(patch: ProjectSettingsPatch = {}, workers = 1): Promise<TrialScene> {
    const scene = new TrialScene(await testDatabase());
    await scene.settings(1, patch);
    const [project] = await scene.db.query<{ salt: string }>('SELECT salt FROM edge.projects WHERE project = $1', [PROJECT]);
    scene.salt = project?.salt ?? '';
    await scene.db.query('INSERT INTO rules.versions (project) VALUES ($1)', [PROJECT]);
    for (let at = 0; at < workers; at += 1) scene.workers.push(await scene.worker());
    return scene;
  }

  async settings(version: number, patch: ProjectSettingsPatch): Promise<void> {
    await this.db.query(`INSERT INTO edge.settings (project, version, doc, author) VALUES ($1, $2, $3, 'test')`, [
      ...[PROJECT, version, JSON.stringify(patch)],
    ]);
  }

  private async worker(): Promise<Worker> {
    const source = await createDataSource({ url: this.db.url, role: 'fm_validation', name: 'validation' }).initialize();
    this.sources.push(source);
    const work = new UnitOfWork(source, { publish: (messages) => Promise.resolve(this.received(messages)) }, 'validation');
    const [entries, queue] = [new EntryStore(), new TrialQueue()];
    const settings = new SettingsDirectory(source, {});
    const desk = new TrialDesk(work, settings, new ExposureStore(), entries, new TrialStore(), new VerdictStore());
    return {
      exposed: new RuleExposedHandler(desk),
      reports: new TurnEvaluatedHandler(work, entries, desk),
      ends: new SessionEndedHandler(work, desk),
      timer: new TrialTimer(work, entries, queue, desk),
    };
  }

  private received(messages: readonly OutgoingMessage[]): [] {
    for (const { subject, data } of messages)
      this.events.push({ subject, payload: JSON.parse(String(data)) as Record<string, unknown> });
    return [];
  }

  /** A candidate on trial; its metric decides which signatures are its family. */
  async candidate(id: string, { metric = 'tool_correctness', allocation = 0.5 } = {}): Promise<void> {
    await this.db.query(
      `INSERT INTO rules.rules (id, project, seq, rule, rationale, metric, scope, author, normal_hash, allocation) VALUES ($1, $2, 1, $1, '', $3, 'refunds', 'repair', $1, $4)`,
      [id, PROJECT, metric, allocation],
    );
  }

  arm(rule: string, session: string, allocation = 0.5): Arm {
    return armOf({ ruleId: rule, sessionId: session, salt: this.salt }, allocation);
  }

  /** The first of a row of sessions that is in this arm, and was not given before. */
  sessionIn(rule: string, arm: Arm): string {
    for (;;) {
      const session = `s-${(this.next += 1)}`;
      if (this.arm(rule, session) === arm) return session;
    }
  }

  exposure(session: string, rules: readonly string[], more: Partial<PayloadOf<typeof ruleExposed>> = {}) {
    const shown = rules.filter((rule) => this.arm(rule, session) === 'treatment');
    return this.delivery({
      ...{ read_id: `${session}-${(this.next += 1)}`, session_id: session, turn_index: null, kind: 'read' as const, version: 1 },
      ...{ rule_ids: shown, withheld_ids: rules.filter((rule) => !shown.includes(rule)), at: this.clockUs },
      ...more,
    });
  }

  async exposed(session: string, rules: readonly string[]): Promise<void> {
    await this.expose([this.exposure(session, rules)]);
  }

  async expose(batch: Delivery<PayloadOf<typeof ruleExposed>>[], worker = 0): Promise<void> {
    await this.workers[worker]?.exposed.handle(batch);
  }

  /** A turn that was accepted just now, with its report, as scoring and gating leave them. Gives the report's event. */
  async plant(session: string, t: number, turn: Turn = {}): Promise<Delivery<PayloadOf<typeof turnEvaluated>>> {
    const s = sessionKey(PROJECT, session);
    const { fired = [], skipped = false, final = false, reported = true, revision = 1 } = turn;
    this.clockUs += 1_000;
    await this.db.query(
      `INSERT INTO scoring.turns (s, t, project, accepted_us, body_sha, config, skipped, final) VALUES ($1, $2, $3, $4, '', 'c', $5, $6) ON CONFLICT DO NOTHING`,
      [s, t, PROJECT, this.clockUs, skipped ? 'budget' : null, final],
    );
    if (reported) {
      await this.db.query(
        `INSERT INTO gating.turn_evals (s, t, accepted_us, config, evidence, signals, partial, state, fired, standing, measured, rev)
         VALUES ($1, $2, $3, 'c', '{}', '[]', false, '{}', $4, $4, true, $5) ON CONFLICT (s, t) DO UPDATE SET fired = excluded.fired, standing = excluded.standing, rev = excluded.rev`,
        [s, t, this.clockUs, fired, revision],
      );
    }
    return this.delivery({
      ...{
        session_id: session,
        turn_index: t,
        revision,
        accepted_at: this.clockUs,
        complete: true,
        partial: false,
        skipped: null,
      },
      ...{ severity: null, signatures: [...fired], fired: [...fired], flagged_traces: [], scores: [], signals: [] },
    });
  }

  async turn(session: string, t: number, turn: Turn = {}): Promise<void> {
    const event = await this.plant(session, t, turn);
    if (turn.reported !== false) await this.report([event]);
  }

  async report(batch: Delivery<PayloadOf<typeof turnEvaluated>>[], worker = 0): Promise<void> {
    await this.workers[worker]?.reports.handle(batch);
  }

  async ended(session: string): Promise<void> {
    await this.workers[0]?.ends.handle([this.delivery({ session_id: session })]);
  }

  /** One beat of the timer. */
  async beat(worker = 0): Promise<void> {
    await this.workers[worker]?.timer.tick();
  }

  private delivery<P>(payload: P): Delivery<P> {
    this.clockUs += 1_000;
    return { project: PROJECT, subject: 'test', payload, sequence: this.clockUs, storedAt: this.clockUs, notes: [] };
  }

  /** Outcomes of a trial in the order of entry. */
  async outcomes(rule: string): Promise<(number | null)[]> {
    const rows = await this.db.query<{ outcome: number | null }>(
      'SELECT outcome FROM validation.trial_sessions WHERE rule = $1 ORDER BY entry',
      [rule],
    );
    return rows.map(({ outcome }) => outcome);
  }

  async status(rule: string): Promise<string | undefined> {
    const [row] = await this.db.query<{ status: string }>('SELECT status FROM rules.rules WHERE id = $1', [rule]);
    return row?.status;
  }

  subjects(): string[] {
    return this.events.map(({ subject }) => subject);
  }

  async close(): Promise<void> {
    for (const source of this.sources) await source.destroy();
    await this.db.drop();
  }
}
