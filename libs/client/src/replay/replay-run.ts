import type { ReplayRequested } from '../../../contracts/src/replay.events.js';
import { preamble } from '../../../domain/src/rules/preamble.js';
import { TapePlayer, type TapeOptions } from '../tape/tape-player.js';
import type { ReplayContext, ReplayFunction, ReplayTurn } from './context.js';
import type { ReplaySender } from './sender.js';

const MICROS = 1_000;
/** How long what ends a run is tried to be said, while the broker is away: later nobody waits for it. */
const LAST_WORD_MS = 30_000;
/** How long a run that was aborted may take to return before the worker goes on without it. */
const RETURN_MS = 5_000;
const ERROR_MAX = 2_000;

/** A signal's own timer must not be longer than this, or it fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One replay from its request to its end. */
export class ReplayRun {
  private readonly aborting = new AbortController();
  private readonly player: TapePlayer;
  private readonly sending = new Set<Promise<void>>();
  private readonly failures: Error[] = [];
  private started: Promise<void> | undefined;
  private nextTurn = 0;
  private deadlineMs: number;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly request: ReplayRequested,
    private readonly sender: ReplaySender,
    options: TapeOptions,
  ) {
    const { tape, env_deadline: environment, deadline } = request;
    this.player = new TapePlayer(tape, options);
    this.deadlineMs = (environment ?? deadline) / MICROS;
  }

  abort(reason: string): void {
    if (!this.aborting.signal.aborted) this.aborting.abort(new Error(reason));
  }

  /** Runs the function and says what came of it. Resolves with what went wrong beside the run itself. */
  async run(replay: ReplayFunction): Promise<Error[]> {
    this.watchDeadline();
    const error = await this.outcome(replay);
    clearTimeout(this.timer);
    this.abort('the replay is over');
    await Promise.all(this.sending);
    await this.finish(error ?? this.failures[0]);
    return this.failures;
  }

  private async outcome(replay: ReplayFunction): Promise<Error | undefined> {
    const { signal } = this.aborting;
    if (signal.aborted) return signal.reason as Error;
    if (this.request.env_deadline === null) void this.start().catch(() => undefined);
    const running = Promise.resolve()
      .then(() => replay(this.context()))
      .then(
        () => undefined,
        (error: unknown) => toError(error),
      );
    const aborted = new Promise<Error>((resolve) =>
      signal.addEventListener('abort', () => resolve(signal.reason as Error), { once: true }),
    );
    const first = await Promise.race([running, aborted]);
    if (!this.isOver) return first;
    if (!(await within(RETURN_MS, running)))
      this.failures.push(new Error(`replay ${this.request.replay_id} still runs though its signal is aborted`));
    return signal.reason as Error;
  }

  private get isOver(): boolean {
    return this.aborting.signal.aborted;
  }

  private context(): ReplayContext {
    const { replay_id: replayId, case_id: caseId, replay_input: replayInput, session_id: sessionId } = this.request;
    const deadline = (): Date => new Date(this.deadlineMs);
    return {
      ...{ replayId, caseId, replayInput, sessionId, signal: this.aborting.signal, preamble },
      get deadline() {
        return deadline();
      },
      markExecutionStarted: async () => this.start(),
      tool: (name, live) => (args) => this.callTool(name, args, () => live(args)) as Promise<Awaited<ReturnType<typeof live>>>,
      turn: (turn) => this.kept(this.sendTurn(turn)),
    };
  }

  /** Where waiting had a time of its own, the run's own begins now, as long as the request gave it. */
  private start(): Promise<void> {
    const { replay_id, deadline, env_deadline: environment } = this.request;
    if (this.started !== undefined) return this.started;
    this.aborting.signal.throwIfAborted();
    if (environment !== null) {
      this.deadlineMs = Math.min(deadline / MICROS, Date.now() + (deadline - environment) / MICROS);
      this.watchDeadline();
    }
    this.started = this.kept(this.sender.send('replay.started', { replay_id }, this.deadlineMs));
    return this.started;
  }

  private async callTool(name: string, args: unknown, live: () => unknown): Promise<unknown> {
    this.aborting.signal.throwIfAborted();
    return this.player.call(name, args, live);
  }

  /** A run that has a turn has started, whether or not it said so. */
  private async sendTurn(turn: ReplayTurn): Promise<void> {
    this.aborting.signal.throwIfAborted();
    const turn_index = turn.turn_index ?? this.nextTurn;
    this.nextTurn = turn_index + 1;
    await this.start();
    const { session_id, replay_id } = this.request;
    await this.sender.send('replay.turn', { ...turn, turn_index, session_id, replay_id }, this.deadlineMs);
  }

  /** Is waited for before the end is said, and makes the replay fail when it does, whether or not the function awaits it. */
  private kept(sending: Promise<void>): Promise<void> {
    const watched = sending
      .catch((error: unknown) => void this.failures.push(toError(error)))
      .finally(() => this.sending.delete(watched));
    this.sending.add(watched);
    return sending;
  }

  private async finish(error: Error | undefined): Promise<void> {
    const { replay_id, session_id } = this.request;
    const said = error === undefined ? { session_id } : { error: error.message.slice(0, ERROR_MAX) || error.name };
    const last = this.nextTurn === 0 ? {} : { turn_index: this.nextTurn - 1 };
    const payload = { replay_id, ...said, ...last, tape_share: this.player.share };
    await this.sender
      .send('replay.finished', payload, Date.now() + LAST_WORD_MS)
      .catch((failure: unknown) => void this.failures.push(toError(failure)));
  }

  private watchDeadline(): void {
    clearTimeout(this.timer);
    const left = Math.min(this.deadlineMs - Date.now(), LONGEST_TIMER_MS);
    const what =
      this.request.env_deadline !== null && this.started === undefined
        ? 'the environment did not come in time'
        : 'the deadline is over';
    const reach = (): void => this.abort(`${what} (${new Date(this.deadlineMs).toISOString()})`);
    if (left <= 0) reach();
    else this.timer = setTimeout(reach, left);
  }
}

/** Whether it ended in time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), milliseconds)));
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
