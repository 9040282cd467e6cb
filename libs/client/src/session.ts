import type { SettleAnswer } from '../../contracts/src/http-settle.js';
import { preamble } from '../../domain/src/rules/preamble.js';
import type { RuleCache } from './rule-cache.js';
import { Rules } from './rules.js';
import { Tools } from './tools.js';
import type { ReadFor, Transport } from './transport.js';

export interface SettleOptions {
  /** Seconds to wait at most; default: `barrier_timeout_s` of the project. Over HTTP 290 at most. */
  readonly timeoutS?: number | undefined;
}

/** One conversation or task of an agent. What is read here is read by it: recorded, and answered as its arms of trials say. */
export class Session {
  readonly rules: Rules;
  readonly tools: Tools;
  private readonly reader: ReadFor;

  constructor(
    private readonly parts: { readonly transport: Transport; readonly cache: RuleCache },
    readonly id: string,
    turn?: number,
  ) {
    this.reader = { session: id, turn };
    this.rules = new Rules(parts.cache, this.reader);
    this.tools = new Tools(parts.cache, this.reader);
  }

  /** The same session in a turn: what is read then is read in that turn. */
  atTurn(turn: number): Session {
    return new Session(this.parts, this.id, turn);
  }

  /** A fixed text for the agent's instructions: that the tools exist, and how to use them. No rule's text. */
  preamble(): string {
    return preamble();
  }

  /** Waits until the loop is done with a turn: its report, its notices, one repair. Rejects with a FleetmendError. */
  settle(turn: number, { timeoutS }: SettleOptions = {}): Promise<SettleAnswer> {
    return this.parts.transport.settle({ session_id: this.id, turn_index: turn, timeout_s: timeoutS });
  }
}
