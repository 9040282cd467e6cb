import type { JsMsg } from '@nats-io/jetstream';
import type { ReplayRequested } from '../../../contracts/src/replay.events.js';
import { link, type Broker, type Link } from '../connection.js';
import type { TapeOptions } from '../tape/tape-player.js';
import type { ReplayFunction } from './context.js';
import { ReplayRun } from './replay-run.js';
import { RequestSource, type SourceOptions } from './request-source.js';
import { ReplaySender } from './sender.js';

export interface ReplayWorkerOptions extends SourceOptions, TapeOptions {
  /** Replays that this process runs at once. Default 1: agents often share an environment. */
  readonly concurrency?: number;
  /** Told of what failed beside the replays themselves: trouble with the broker, a run that does not end when it is told to. */
  readonly onError?: (error: Error) => void;
}

export interface ReplayWorker {
  /** Takes no more replays, aborts those in hand and says so, and disconnects if the connection was opened here. */
  close(): Promise<void>;
}

const CLOSE_WITHIN_MS = 10_000;

/**
 * Runs cases again when Fleetmend asks for it: with and without a rule that is on trial, or to see whether the rules of today still
 * serve. Several workers share the requests of their project. Nothing that `replay` does ends the process or the worker. Resolves when
 * it is connected, which waits for a broker that is not up yet; rejects when the broker refuses the credentials.
 */
export async function replayWorker(replay: ReplayFunction, options: ReplayWorkerOptions & Broker): Promise<ReplayWorker> {
  const reached = await link(options, `replays-${options.project}`);
  return new Worker(reached, replay, options);
}

class Worker implements ReplayWorker {
  private readonly source: RequestSource;
  private readonly sender: ReplaySender;
  private readonly runs = new Set<ReplayRun>();
  private readonly slots: Promise<void>;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly reached: Link,
    private readonly replay: ReplayFunction,
    private readonly options: ReplayWorkerOptions,
  ) {
    const { connection } = reached;
    this.source = new RequestSource(connection, options, (error) => this.tell(error));
    this.sender = new ReplaySender(connection, options.project);
    this.slots = Promise.all(Array.from({ length: Math.max(1, options.concurrency ?? 1) }, () => this.work())).then(
      () => undefined,
    );
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async work(): Promise<void> {
    for (let message = await this.source.take(); message !== undefined; message = await this.source.take()) {
      try {
        await this.runOne(requestOf(message));
      } catch (error) {
        this.tell(error);
      }
    }
  }

  private async runOne(request: ReplayRequested): Promise<void> {
    const run = new ReplayRun(request, this.sender, this.options);
    this.runs.add(run);
    if (this.closing !== undefined) run.abort(CLOSES);
    for (const failure of await run.run(this.replay)) this.tell(failure);
    this.runs.delete(run);
  }

  private async end(): Promise<void> {
    this.source.close();
    for (const run of this.runs) run.abort(CLOSES);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_WITHIN_MS)));
    await Promise.race([this.slots, late]).finally(() => clearTimeout(timer));
    if (this.reached.own) await this.reached.connection.close();
  }

  private tell(error: unknown): void {
    try {
      this.options.onError?.(error instanceof Error ? error : new Error(String(error)));
    } catch {
      // A listener that fails must not end the worker that it listens to.
    }
  }
}

const CLOSES = 'the replay worker closes';

/** As our own service wrote it. @throws Error for what is no request at all */
function requestOf(message: JsMsg): ReplayRequested {
  const request = message.json<Partial<ReplayRequested>>();
  if (typeof request.replay_id !== 'string' || typeof request.session_id !== 'string' || typeof request.deadline !== 'number')
    throw new Error(`a message on ${message.subject} is no request for a replay`);
  return {
    tape: null,
    env_deadline: null,
    replay_input: null,
    candidate_rule_id: null,
    pair: null,
    case_id: '',
    ...request,
  } as ReplayRequested;
}
