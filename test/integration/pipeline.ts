import { projectSettings, type ProjectSettingsPatch, type Score, type Tier, type TierRequested } from '#contracts';
import { gateConfig } from '#domain/gate';
import type { Delivery, OutgoingMessage } from '#messaging';
import { createDataSource, SettingsDirectory, UnitOfWork } from '#persistence';
import { testDatabase, type TestDatabase } from '#testing';
import type { DataSource } from 'typeorm';
import { TraceScoredHandler } from '../../services/gating/src/handlers/trace-scored.handler.js';
import { SessionStore } from '../../services/gating/src/postgres/session-store.js';
import { AlertBatch } from '../../services/mailbox/src/alert-batch.js';
import { EpisodeFormation } from '../../services/mailbox/src/episode-formation.js';
import { TurnEvaluatedHandler } from '../../services/mailbox/src/handlers/turn-evaluated.handler.js';
import { AlertStore } from '../../services/mailbox/src/postgres/alert-store.js';
import { EpisodeStore } from '../../services/mailbox/src/postgres/episode-store.js';
import { EvalCaseStore } from '../../services/mailbox/src/postgres/eval-case-store.js';
import { NoticeStore } from '../../services/mailbox/src/postgres/notice-store.js';
import { PostedNotices } from '../../services/mailbox/src/posted-notices.js';
import { ScorePostedHandler } from '../../services/scoring/src/handlers/score-posted.handler.js';
import { TierRequestedHandler } from '../../services/scoring/src/handlers/tier-requested.handler.js';
import { TurnEndedHandler } from '../../services/scoring/src/handlers/turn-ended.handler.js';
import type { TurnPayload } from '../../services/scoring/src/accepted-turn.js';
import { decodeTurn } from '../../services/scoring/src/decode-turn.js';
import { ScoreStore } from '../../services/scoring/src/postgres/score-store.js';
import { TurnStore } from '../../services/scoring/src/postgres/turn-store.js';
import { TurnSetup } from '../../services/scoring/src/turn-setup.js';
import { Verifiers } from '../../services/scoring/src/verifiers.js';

export interface Event {
  readonly id: string | null;
  readonly subject: string;
  readonly payload: Record<string, unknown>;
}

const CONFIG = 'test-config';

/**
 * The services' own handlers over a real database, each under its own role, with the broker replaced by a list: what a handler
 * emits is given to the next one when the test says so. For what the tables must hold after a certain order of things.
 */
export class Pipeline {
  readonly events: Event[] = [];
  private readonly waiting: Event[] = [];
  private readonly sources: DataSource[] = [];
  private clock = Date.now() * 1000;
  private answers = new Map<string, Score[]>();
  private gating!: TraceScoredHandler;
  private mailbox!: TurnEvaluatedHandler;
  private turns!: TurnEndedHandler;
  private tiers!: TierRequestedHandler;
  private posted!: ScorePostedHandler;
  /** Whose turns come next. */
  project = 'default';
  /** What one value may cost, as admission is told. */
  valueUsd = 0;
  readonly verifiers = new Verifiers();
  turnStore!: TurnStore;
  directory!: SettingsDirectory;
  setup!: TurnSetup;
  scoringWork!: UnitOfWork;

  private constructor(readonly db: TestDatabase) {}

  static async open(patch: ProjectSettingsPatch = {}): Promise<Pipeline> {
    const pipeline = new Pipeline(await testDatabase());
    await pipeline.configure(patch);
    return pipeline;
  }

  private async configure(patch: ProjectSettingsPatch): Promise<void> {
    const settings = projectSettings.parse(patch);
    await this.db.query('INSERT INTO scoring.configs (id, doc) VALUES ($1, $2)', [CONFIG, JSON.stringify(gateConfig(settings))]);
    await this.db.query(`INSERT INTO edge.settings (project, version, doc, author) VALUES ('default', 1, $1, 'test')`, [
      JSON.stringify(patch),
    ]);
    const gating = await this.work('gating');
    this.gating = new TraceScoredHandler(gating.work, new SessionStore());
    const mailbox = await this.work('mailbox');
    const mailboxSettings = new SettingsDirectory(mailbox.db, {});
    const [alerts, notices, episodes, cases] = [
      new AlertStore(mailbox.work),
      new NoticeStore(),
      new EpisodeStore(),
      new EvalCaseStore(),
    ];
    const batch = new AlertBatch(
      mailboxSettings,
      alerts,
      notices,
      episodes,
      new PostedNotices(notices, episodes, cases),
      new EpisodeFormation(episodes, notices),
    );
    this.mailbox = new TurnEvaluatedHandler(mailbox.work, alerts, batch);
    const scoring = await this.work('scoring');
    this.scoringWork = scoring.work;
    const scores = new ScoreStore();
    this.turnStore = new TurnStore(scores);
    const lanes = { nudge: () => undefined, dearestValueUsd: () => this.valueUsd };
    const directory = new SettingsDirectory(scoring.db, {});
    this.directory = directory;
    this.setup = new TurnSetup(directory, this.verifiers, lanes);
    this.turns = new TurnEndedHandler(scoring.work, this.turnStore, this.setup, lanes);
    this.tiers = new TierRequestedHandler(scoring.work, this.turnStore, lanes, this.verifiers);
    this.posted = new ScorePostedHandler(scoring.work, scores);
  }

  private async work(service: 'gating' | 'mailbox' | 'scoring'): Promise<{ db: DataSource; work: UnitOfWork }> {
    const db = await createDataSource({ url: this.db.url, role: `fm_${service}`, name: service }).initialize();
    this.sources.push(db);
    return { db, work: new UnitOfWork(db, { publish: (messages) => Promise.resolve(this.received(messages)) }, service) };
  }

  /** What a service published goes to whoever consumes it. */
  received(messages: readonly OutgoingMessage[]): [] {
    for (const { id, subject, data } of messages) {
      const event = { id, subject, payload: JSON.parse(String(data)) as Record<string, unknown> };
      this.events.push(event);
      this.waiting.push(event);
    }
    return [];
  }

  delivery<P>(payload: P, storedAt = (this.clock += 1_000)): Delivery<P> {
    return { project: this.project, subject: 'test', payload, sequence: this.clock, storedAt, notes: [] };
  }

  /** Tier 1 says `completion`; when the gate asks for tier 2, `tool` is its answer. `error` makes the trace's error text. */
  async scored(
    session: string,
    turn: number,
    given: { completion: number | null; tool?: number; error?: string; answer?: number },
  ): Promise<void> {
    const trace = `${session}-t${turn}`;
    if (given.tool !== undefined) this.answers.set(`${session}|${turn}`, [scoreOf('tool_correctness', given.tool, trace)]);
    const payload = {
      ...{
        session_id: session,
        turn_index: turn,
        tier: 1 as Tier,
        answer: given.answer ?? 1,
        accepted_at: this.clock + turn,
        config: CONFIG,
      },
      ...{ scores: [scoreOf('task_completion', given.completion, trace)], pending: false, partial: false, skipped: null },
      signals: given.error === undefined ? [] : [{ trace_id: trace, failing_tools: ['pay'], error: given.error }],
    };
    await this.gating.handle([this.delivery(payload)]);
  }

  /** The verifier's answer at the gate. */
  async outcome(session: string, turn: number, value: number, answer = 1): Promise<void> {
    const score = { ...scoreOf('outcome_correct', value, ''), trace_id: null, source: 'verifier' };
    const payload = { session_id: session, turn_index: turn, tier: 0 as Tier, answer, accepted_at: this.clock, config: CONFIG };
    await this.gating.handle([
      this.delivery({ ...payload, scores: [score], signals: [], pending: false, partial: false, skipped: null }),
    ]);
  }

  /** Gives all waiting reports to the mailbox in one batch, as after a backlog. */
  async together(type: string): Promise<void> {
    const batch = this.waiting.filter(({ subject }) => subject.endsWith(type));
    await this.mailbox.handle(batch.map(({ payload }) => this.delivery(payload as never)));
    this.waiting.splice(0, this.waiting.length, ...this.waiting.filter((event) => !batch.includes(event)));
    await this.settle();
  }

  /** Gives every waiting event to who consumes it, until nothing waits. `hold` leaves out events by type. */
  async settle(hold: (event: Event) => boolean = () => false): Promise<void> {
    for (;;) {
      const index = this.waiting.findIndex((event) => !hold(event));
      const [event] = index === -1 ? [] : this.waiting.splice(index, 1);
      if (event === undefined) return;
      await this.give(event);
    }
  }

  async give({ subject, payload }: Event): Promise<void> {
    // Checked by its schema on the way out: what a handler emits is what the next one takes.
    const delivery = this.delivery(payload as never);
    if (subject.endsWith('.trace.scored')) await this.gating.handle([delivery]);
    if (subject.endsWith('.turn.evaluated')) await this.mailbox.handle([delivery]);
    if (subject.endsWith('.tier.requested')) await this.tier(delivery);
  }

  private async tier(delivery: Delivery<TierRequested>): Promise<void> {
    const { session_id: session, turn_index: turn, tier } = delivery.payload;
    const scores = this.answers.get(`${session}|${turn}`);
    if (scores === undefined) return this.tiers.handle([delivery]);
    const payload = {
      session_id: session,
      turn_index: turn,
      tier,
      answer: 1,
      accepted_at: this.clock,
      config: CONFIG,
      scores,
      signals: [],
      pending: false,
      partial: false,
      skipped: null,
    };
    await this.gating.handle([this.delivery(payload)]);
  }

  /** Turns through scoring, as they come from the broker, in one batch. */
  async ended(...turns: readonly object[]): Promise<void> {
    await this.endedAt(...turns.map((turn) => ({ turn, at: (this.clock += 1_000) })));
  }

  /** The same at given times, in microseconds; by the handler of another process when one is given. */
  async endedAt(...turns: readonly { readonly turn: object; readonly at: number }[]): Promise<void> {
    await this.turns.handle(turns.map((one) => this.deliveryOf(one)));
  }

  private deliveryOf({ turn, at }: { readonly turn: object; readonly at: number }): Delivery<TurnPayload> {
    const decoded = decodeTurn(Buffer.from(JSON.stringify(turn)));
    if (!decoded.ok) throw new Error(decoded.reason);
    return this.delivery(decoded.payload, at);
  }

  /** Another scoring process: takes turns, in one batch. */
  async anotherProcess(): Promise<(...turns: readonly object[]) => Promise<void>> {
    const { db, work } = await this.work('scoring');
    const lanes = { nudge: () => undefined, dearestValueUsd: () => this.valueUsd };
    const store = new TurnStore(new ScoreStore());
    const handler = new TurnEndedHandler(
      work,
      store,
      new TurnSetup(new SettingsDirectory(db, {}), new Verifiers(), lanes),
      lanes,
    );
    return (...turns) => handler.handle(turns.map((turn) => this.deliveryOf({ turn, at: (this.clock += 1_000) })));
  }

  /** Scores in one batch, as after a backlog. */
  async sentTogether(scores: readonly object[]): Promise<void> {
    await this.posted.handle(scores.map((one) => this.delivery(one as never)));
  }

  /** Questions for costlier tiers, in one batch. */
  async askedTogether(requests: readonly TierRequested[]): Promise<void> {
    await this.tiers.handle(requests.map((one) => this.delivery(one)));
  }

  /** Scores that somebody sent apart from their turn. */
  async sent(session: string, turn: number, ...scores: readonly object[]): Promise<void> {
    await this.posted.handle([this.delivery({ session_id: session, turn_index: turn, scores } as never)]);
  }

  async verified(session: string, turn: number, value: number | null): Promise<void> {
    await this.posted.handle([
      this.delivery({ session_id: session, turn_index: turn, scores: [{ metric: 'outcome_correct', value }] }),
    ]);
  }

  /** Events whose subject holds `part`. */
  of(part: string): Event[] {
    return this.events.filter(({ subject }) => subject.includes(part));
  }

  async close(): Promise<void> {
    for (const source of this.sources) await source.destroy();
    await this.db.drop();
  }
}

function scoreOf(metric: string, value: number | null, trace: string): Score {
  return {
    ...{ metric, trace_id: trace, value, status: value === null ? 'pending' : 'scored', source: 'check', evaluator: 'check/1' },
    ...{ reason: `it was ${value}`, code: null, spans: [] },
  };
}
