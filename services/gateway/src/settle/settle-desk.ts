import { Logger, type OnModuleDestroy } from '@nestjs/common';
import type { SettleAnswer } from '#contracts';
import { sessionKey } from '#domain/ids';
import { runResultOf, settlementOf, type Settlement } from '#domain/settlement';
import { unavailable } from '../http/problem.js';
import type { SeenState, SettledTurn, Settlements } from '../postgres/settlements.js';
import { storedReport } from './stored-report.js';

export interface SettleQuestion {
  readonly project: string;
  readonly session: string;
  /** Undefined: the newest turn. */
  readonly turn: number | undefined;
  readonly timeoutS: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly question: SettleQuestion;
  readonly s: string;
  readonly askedAt: number;
  readonly answer: (answer: SettleAnswer) => void;
  readonly refuse: (error: Error) => void;
  turn: number | null;
  skipped: string | null;
  /** Of the newest look. */
  seen: Settlement;
}

const LOOK_EVERY_MS = 100;
const MS_PER_S = 1_000;
/** One look at this many takes some tens of milliseconds of the database. */
const MAX_WAITING = 2_000;
const UNSEEN: Settlement = { settled: false, waiting: 'turn' };

/** Everybody of this process who waits for a turn: one question to the tables for all of them, every 100 ms. */
export class SettleDesk implements OnModuleDestroy {
  private readonly logger = new Logger('settle');
  private readonly waiting = new Set<Waiting>();
  private looking = false;
  private closing = false;
  private trouble = false;

  constructor(private readonly tables: Settlements) {}

  /** How many wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** @throws ProblemError 503 when too many wait, or the tables cannot be read until the time is over, or this process stops */
  settle(question: SettleQuestion): Promise<SettleAnswer> {
    if (this.closing) throw stopping();
    if (this.waiting.size >= MAX_WAITING) throw unavailable(`${MAX_WAITING} requests wait here already. Ask again.`);
    const { project, session, turn, signal } = question;
    return new Promise((answer, refuse) => {
      const seen = { turn: turn ?? null, skipped: null, seen: UNSEEN };
      const waiting: Waiting = { question, s: sessionKey(project, session), askedAt: performance.now(), answer, refuse, ...seen };
      this.waiting.add(waiting);
      signal.addEventListener('abort', () => this.waiting.delete(waiting), { once: true });
      if (signal.aborted) this.waiting.delete(waiting);
      if (!this.looking) void this.lookOn();
    });
  }

  onModuleDestroy(): void {
    this.closing = true;
    for (const one of this.waiting) one.refuse(stopping());
    this.waiting.clear();
  }

  private async lookOn(): Promise<void> {
    this.looking = true;
    while (this.waiting.size > 0) {
      await this.lookOnce([...this.waiting]);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    this.looking = false;
  }

  private async lookOnce(all: readonly Waiting[]): Promise<void> {
    try {
      const states = await this.tables.look(all.map((one) => ({ s: one.s, t: one.turn, waited_ms: waitedMs(one) })));
      const done = all.filter((one, n) => see(one, states[n]) || isOver(one));
      if (done.length > 0) await this.answerAll(done);
      this.trouble = false;
    } catch (error) {
      this.say(error);
      for (const one of all.filter(isOver)) this.finish(one, () => one.refuse(asError(error)));
    }
  }

  private async answerAll(done: readonly Waiting[]): Promise<void> {
    const known = done.flatMap((one) => (one.turn === null ? [] : [{ one, t: one.turn }]));
    const read = await this.tables.read(known.map(({ one, t }) => ({ s: one.s, t, waited_ms: waitedMs(one) })));
    const found = new Map(known.map(({ one }, n) => [one, read[n]]));
    for (const one of done) this.finish(one, () => one.answer(answerOf(one, found.get(one))));
  }

  private finish(one: Waiting, end: () => void): void {
    if (this.waiting.delete(one)) end();
  }

  /** Once, until it works again. */
  private say(error: unknown): void {
    if (!this.trouble) this.logger.warn(`those who wait for a turn wait longer: ${asError(error).message}`);
    this.trouble = true;
  }
}

/** Notes what was seen; gives whether it is settled. */
function see(one: Waiting, state: SeenState | undefined): boolean {
  if (state === undefined) return false;
  one.turn = state.t ?? one.question.turn ?? null;
  one.skipped = state.skipped;
  one.seen = settlementOf(state, leftS(one));
  return one.seen.settled;
}

function answerOf({ question, turn, skipped, seen }: Waiting, read: SettledTurn | undefined): SettleAnswer {
  return {
    session_id: question.session,
    turn_index: turn,
    report: read === undefined || turn === null ? null : storedReport(turn, read),
    repair: read?.run == null ? null : runResultOf(read.run),
    timed_out: !seen.settled,
    skipped,
    waiting: seen.waiting,
  };
}

const waitedMs = ({ askedAt }: Waiting): number => performance.now() - askedAt;
const leftS = (one: Waiting): number => one.question.timeoutS - waitedMs(one) / MS_PER_S;
const isOver = (one: Waiting): boolean => leftS(one) <= 0;
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
const stopping = (): Error => unavailable('This gateway is stopping. Ask again: the next one goes on from the same tables.');
