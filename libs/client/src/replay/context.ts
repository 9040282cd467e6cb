import type { TurnInput } from '../../../contracts/src/turn.js';

/** A turn of a replay, as `turn.ended` has it. The session is the replay's; without an index the turns are counted from 0. */
export type ReplayTurn = Omit<TurnInput, 'session_id' | 'turn_index'> & { readonly turn_index?: number };

/** What a replay is given. Nothing in it tells whether a rule is on trial in this run: only the rules that its session reads differ. */
export interface ReplayContext {
  readonly replayId: string;
  readonly caseId: string;
  /** What the case holds to be run again. */
  readonly replayInput: unknown;
  /** To be used for turns and for reading rules. */
  readonly sessionId: string;
  /** When the run is over. Where the environment has to be waited for, it moves when the execution starts. */
  readonly deadline: Date;
  /** Aborted at the deadline, and when the worker closes: nothing of what the run does after that is sent. */
  readonly signal: AbortSignal;
  /** A text for the agent's instructions: that there is advice, and how to read it. */
  readonly preamble: () => string;
  /**
   * Says that waiting is over and the run's own time begins. Needed only where replays may wait for their environment
   * (`replay_env_wait_timeout_s`); otherwise it was said when the function was called. Saying it again changes nothing.
   */
  readonly markExecutionStarted: () => Promise<void>;
  /** A tool as the agent should call it here: answered from the tape by the worker's options, or by `live`. */
  readonly tool: <Args, Result>(name: string, live: (args: Args) => Result | Promise<Result>) => (args: Args) => Promise<Result>;
  /** Sends a turn of the run. It is stored when this resolves. */
  readonly turn: (turn: ReplayTurn) => Promise<void>;
}

/** Runs a case again. What it returns is not looked at; what it throws is reported as the error of the replay. */
export type ReplayFunction = (context: ReplayContext) => unknown;
