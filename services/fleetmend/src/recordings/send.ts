import { setTimeout as sleep } from 'node:timers/promises';
import type { TurnsResponse } from '#contracts';
import { CommandError, exitCodes } from '../exit-codes.js';
import { exitCodeOfStatus, problemError, type Gateway, type RawAnswer } from '../http/gateway.js';

/** For each item sent: null when it is stored, else why not. */
export type Sent = readonly (string | null)[];

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const TOO_LARGE = 413;
const BAD_REQUEST = 400;
const NOT_STORED = 503;

interface Refused {
  readonly open: readonly number[];
  readonly results: (string | null)[];
  readonly answer: RawAnswer;
}

/** Posts lists of items, and asks again for as long as it was told when the gateway is away or full. */
export class Sender {
  constructor(
    private readonly gateway: Gateway,
    private readonly retryMs: number,
    private readonly onWait: (reason: string) => void = () => undefined,
    private readonly signal?: AbortSignal,
  ) {}

  /** @throws CommandError 4 when the key does not do, 5 when nothing could be stored for too long */
  async send(path: string, items: readonly Buffer[]): Promise<Sent> {
    const results: (string | null)[] = items.map(() => null);
    const deadline = performance.now() + this.retryMs;
    let open = items.map((_, index) => index);
    for (let pauseMs = FIRST_PAUSE_MS; open.length > 0; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
      const answer = await this.post(path, pick(items, open));
      if (answer instanceof CommandError) {
        await this.pause(answer, pauseMs, deadline);
      } else if (answer.status === TOO_LARGE || answer.status === BAD_REQUEST) {
        await this.sendHalves(path, items, { open, results, answer });
        open = [];
      } else {
        open = this.take(answer, open, results);
        if (open.length > 0)
          await this.pause(problemError(answer), Math.max(pauseMs, (answer.retryAfterS ?? 0) * 1_000), deadline);
      }
    }
    return results;
  }

  /** An answer, or the error of a gateway that does not answer. */
  private async post(path: string, items: readonly Buffer[]): Promise<RawAnswer | CommandError> {
    try {
      const answer = await this.gateway.raw('POST', path, listOf(items));
      if (exitCodeOfStatus(answer.status) === exitCodes.notAllowed) throw problemError(answer);
      return answer;
    } catch (error) {
      if (error instanceof CommandError && error.exitCode === exitCodes.unreachable) return error;
      throw error;
    }
  }

  /** Notes what the answer says of each item. Gives those that have to be sent again. */
  private take(answer: RawAnswer, open: readonly number[], results: (string | null)[]): number[] {
    const { results: told } = (answer.body ?? {}) as Partial<TurnsResponse>;
    if (told === undefined) {
      if (answer.status >= 500) return [...open];
      throw problemError(answer);
    }
    return told.flatMap(({ index, status, error }) => {
      const item = open[index];
      if (item === undefined || status === 'accepted') return [];
      if (error?.status === NOT_STORED) return [item];
      results[item] = error?.detail ?? 'rejected';
      return [];
    });
  }

  /** A list that is refused as a whole: the item at fault is found by halving, and the others go through. */
  private async sendHalves(path: string, items: readonly Buffer[], { open, results, answer }: Refused): Promise<void> {
    if (open.length === 1) {
      results[open[0] ?? 0] = problemError(answer).message;
      return;
    }
    const middle = Math.ceil(open.length / 2);
    for (const half of [open.slice(0, middle), open.slice(middle)]) {
      const sent = await this.send(path, pick(items, half));
      half.forEach((index, at) => (results[index] = sent[at] ?? null));
    }
  }

  private async pause(reason: CommandError, pauseMs: number, deadline: number): Promise<void> {
    if (this.signal?.aborted === true || performance.now() + pauseMs > deadline) throw reason;
    this.onWait(reason.message);
    await sleep(pauseMs);
  }
}

function pick(items: readonly Buffer[], indices: readonly number[]): Buffer[] {
  return indices.flatMap((index) => items[index] ?? []);
}

function listOf(items: readonly Buffer[]): Buffer {
  const comma = Buffer.from(',');
  const parts = items.flatMap((item, index) => (index === 0 ? [item] : [comma, item]));
  return Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]);
}
