import type { TapeCall, ToolTape } from '../../../contracts/src/replay.events.js';
import { argumentsKey } from './arguments-key.js';

/**
 * `strict`: the recorded calls in their order, with their arguments. `match`: a recorded call of the same tool with the same arguments,
 * in whatever order. `live`: the tape is not used.
 */
export type TapeMode = 'strict' | 'match' | 'live';

/** What happens to a call that is not on the tape: it fails, it is really made, or it gets a fixed value. */
export type OnMiss = 'error' | 'live' | { readonly value: unknown };

export interface TapeOptions {
  /** Default `match`. */
  readonly tapeMode?: TapeMode;
  /** Default `error`. */
  readonly onMiss?: OnMiss;
  /** Tools that must never really be called in a replay: what is not on the tape fails, whatever `onMiss` says. */
  readonly neverLive?: readonly string[];
}

/** A call that failed when it was recorded, and therefore fails again. */
export class RecordedToolError extends Error {
  override readonly name = 'RecordedToolError';
  constructor(
    readonly tool: string,
    message: string,
  ) {
    super(message);
  }
}

/** A call that is not on the tape and may not be made. */
export class TapeMissError extends Error {
  override readonly name = 'TapeMissError';
  constructor(readonly tool: string) {
    super(`the tool "${tool}" was called as it is not on the tape, and must not be called really: see onMiss and neverLive`);
  }
}

/** Plays the tool calls of one replay. */
export class TapePlayer {
  private readonly played = new Set<number>();
  private asked = 0;
  private found = 0;

  constructor(
    private readonly tape: ToolTape | null,
    private readonly options: TapeOptions = {},
  ) {}

  /** The share of all calls so far that came from the tape; null without a tape, without calls, and in the mode `live`. */
  get share(): number | null {
    return this.tape === null || this.asked === 0 || this.mode === 'live' ? null : this.found / this.asked;
  }

  /**
   * The result of a call: as recorded, or by what the options say of a miss; `live` really makes it.
   * @throws RecordedToolError as recorded, TapeMissError
   */
  async call(tool: string, given: unknown, live: () => unknown): Promise<unknown> {
    this.asked += 1;
    const recorded = this.mode === 'live' ? undefined : this.next(tool, given);
    if (recorded === undefined) return await this.missed(tool, live);
    this.found += 1;
    if (recorded.error !== null) throw new RecordedToolError(tool, recorded.error);
    // A copy: what the agent does to its result must not reach a later call's.
    return structuredClone(recorded.result);
  }

  private get mode(): TapeMode {
    return this.options.tapeMode ?? 'match';
  }

  private next(tool: string, given: unknown): TapeCall | undefined {
    const calls = this.tape?.calls ?? [];
    const at = this.mode === 'strict' ? this.inOrder(calls, tool, given) : this.matching(calls, tool, given);
    if (at === undefined) return undefined;
    this.played.add(at);
    return calls[at];
  }

  /** The first call that was not played yet, if it is this one; a miss leaves it for later. */
  private inOrder(calls: readonly TapeCall[], tool: string, given: unknown): number | undefined {
    const at = this.played.size;
    const call = calls[at];
    return call !== undefined && isSame(call, tool, given) ? at : undefined;
  }

  /** The first one like it that was not played yet; when all were, the last again: so the world stays as it was left. */
  private matching(calls: readonly TapeCall[], tool: string, given: unknown): number | undefined {
    const alike = calls.flatMap((call, at) => (isSame(call, tool, given) ? [at] : []));
    return alike.find((at) => !this.played.has(at)) ?? alike.at(-1);
  }

  private missed(tool: string, live: () => unknown): unknown {
    const { onMiss = 'error', neverLive = [] } = this.options;
    if (neverLive.includes(tool)) throw new TapeMissError(tool);
    if (this.mode === 'live' || onMiss === 'live') return live();
    if (onMiss === 'error') throw new TapeMissError(tool);
    return structuredClone(onMiss.value);
  }
}

function isSame(call: TapeCall, tool: string, given: unknown): boolean {
  if (call.tool !== tool) return false;
  const recorded = argumentsKey(call.arguments);
  return recorded !== undefined && recorded === argumentsKey(given ?? null);
}
