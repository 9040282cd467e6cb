import { CommandError } from '../exit-codes.js';
import type { Gateway } from '../http/gateway.js';
import { Progress } from '../output/progress.js';
import { say } from '../output/write.js';
import { asTurn, readRecordings, sizeOf, type Origin, type Read, type ReadOptions } from './read-recordings.js';
import { Sender } from './send.js';
import { TraceDump } from './trace-dump.js';
import { sampleTurns } from '#recordings';

export interface ImportOptions extends ReadOptions {
  readonly retryS: number;
  /** Ends the waiting for a gateway that is away. */
  readonly signal?: AbortSignal | undefined;
}

export interface Rejection extends Origin {
  readonly reason: string;
}

export interface ImportSummary {
  /** Turns read, those that could not be read included. */
  readonly read: number;
  readonly accepted: number;
  readonly rejected: number;
  /** Rewards posted as outcome_correct. */
  readonly scores: number;
  /** The first of them. */
  readonly rejections: readonly Rejection[];
  /** The first of the sessions, in the order of their coming. */
  readonly sessions: readonly string[];
}

/** Batches: large enough that a request costs little, small enough that the progress is seen and a repetition is cheap. */
const BATCH_ITEMS = 200;
const BATCH_BYTES = 4 * 1024 * 1024;
const KEPT_REJECTIONS = 1_000;
const SAID_REJECTIONS = 20;
const KEPT_SESSIONS = 1_000;

/** Imports files one after the other. @throws CommandError when a file is not there, nothing answers, or the key does not do */
export async function importFiles(gateway: Gateway, files: readonly string[], options: ImportOptions): Promise<ImportSummary> {
  const progress = new Progress('importing', await sizeOf(files));
  const run = new ImportRun(gateway, options, progress);
  const dump = new TraceDump();
  let before = 0;
  for (const file of files) {
    let readBytes = 0;
    for await (const read of readRecordings(file, options, dump)) {
      readBytes = read.readBytes;
      await run.add(read);
      progress.show(before + readBytes, `${run.summary.accepted} turns`);
    }
    before += readBytes;
  }
  for (const found of dump.turns(options.tools)) {
    await run.add({ ...found, readBytes: 0 });
    progress.show(before, `${run.summary.accepted} turns`);
  }
  return run.end();
}

/** Imports the built-in sample. */
export async function importSample(gateway: Gateway, options: ImportOptions): Promise<ImportSummary> {
  const run = new ImportRun(gateway, options, new Progress('playing', 0));
  for (const turn of sampleTurns()) await run.add({ ...asTurn(turn), origin: { file: 'sample', line: null }, readBytes: 0 });
  return run.end();
}

class ImportRun {
  readonly summary = { read: 0, accepted: 0, rejected: 0, scores: 0 };
  private readonly rejections: Rejection[] = [];
  private readonly sessions = new Set<string>();
  private turns: Extract<Read, { kind: 'turn' | 'score' }>[] = [];
  private scores: Buffer[] = [];
  private bytes = 0;
  private waiting = false;
  private readonly sender: Sender;

  constructor(
    gateway: Gateway,
    { retryS, signal }: ImportOptions,
    private readonly progress: Progress,
  ) {
    this.sender = new Sender(gateway, retryS * 1_000, (reason) => this.sayWaiting(reason), signal);
  }

  async add(read: Read): Promise<void> {
    if (read.kind === 'score') {
      this.scores.push(read.data);
      return;
    }
    this.summary.read += 1;
    if (read.kind === 'rejected') {
      this.reject(read.origin, read.reason);
      return;
    }
    if (this.turns.length > 0 && this.bytes + read.data.length > BATCH_BYTES) await this.flush();
    this.turns.push(read);
    this.bytes += read.data.length;
    if (this.turns.length >= BATCH_ITEMS) await this.flush();
  }

  async end(): Promise<ImportSummary> {
    await this.flush();
    this.progress.clear();
    const unsaid = this.summary.rejected - SAID_REJECTIONS;
    if (unsaid > 0) say(`… and ${unsaid} more rejected`);
    return { ...this.summary, rejections: this.rejections, sessions: [...this.sessions] };
  }

  private async flush(): Promise<void> {
    const turns = this.turns;
    this.turns = [];
    this.bytes = 0;
    try {
      const sent = await this.sender.send(
        '/v1/turns',
        turns.map(({ data }) => data),
      );
      turns.forEach(({ origin, session }, at) => this.note(origin, session, sent[at] ?? null));
      await this.flushScores();
    } catch (error) {
      this.progress.clear();
      throw error instanceof CommandError ? this.interrupted(error) : error;
    }
    this.waiting = false;
  }

  private async flushScores(): Promise<void> {
    const scores = this.scores;
    this.scores = [];
    const sent = scores.length === 0 ? [] : await this.sender.send('/v1/scores', scores);
    this.summary.scores += sent.filter((refusal) => refusal === null).length;
    for (const refusal of sent) if (refusal !== null) say(`a reward was not taken: ${refusal}`);
  }

  private note(origin: Origin, session: string, refusal: string | null): void {
    if (refusal !== null) {
      this.reject(origin, refusal);
      return;
    }
    this.summary.accepted += 1;
    if (this.sessions.size < KEPT_SESSIONS) this.sessions.add(session);
  }

  private reject(origin: Origin, reason: string): void {
    this.summary.rejected += 1;
    if (this.rejections.length < KEPT_REJECTIONS) this.rejections.push({ ...origin, reason });
    if (this.summary.rejected > SAID_REJECTIONS) return;
    this.progress.clear();
    say(`${placeOf(origin)}: ${reason}`);
  }

  private sayWaiting(reason: string): void {
    if (this.waiting) return;
    this.waiting = true;
    this.progress.clear();
    say(`waiting: ${reason}`);
  }

  /** What was stored stays; doing it again doubles nothing. */
  private interrupted(error: CommandError): CommandError {
    if (this.summary.accepted === 0) return error;
    const advice = `${this.summary.accepted} turns are stored; import the same files again to go on, nothing is counted twice`;
    return new CommandError(error.exitCode, `${error.message}\n  ${advice}`, { cause: error });
  }
}

export function placeOf({ file, line }: Origin): string {
  return line === null ? file : `${file}:${line}`;
}
