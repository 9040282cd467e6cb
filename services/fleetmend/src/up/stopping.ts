import { say } from '../output/write.js';

/** Thrown where work is given up because somebody asked for the end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

const FORCED = 130;

/** The wish to end: of the user (Ctrl-C, SIGTERM, a closed terminal) or of a part that failed. */
export class Stopping {
  private readonly ended: Promise<never>;
  private reject: (reason: Error) => void = () => undefined;
  private readonly abort = new AbortController();

  constructor() {
    this.ended = new Promise<never>((_, reject) => (this.reject = reject));
    // Looked at by whoever waits; nobody may be waiting just now.
    this.ended.catch(() => undefined);
  }

  /** For work that should not go on trying. */
  get signal(): AbortSignal {
    return this.abort.signal;
  }

  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => this.signalled(signal));
  }

  /** A part failed that nothing works without. */
  fail(error: Error): void {
    this.abort.abort();
    this.reject(error);
  }

  /** The work's result, unless the end is asked for first; the work itself goes on and has to be stopped by its owner. */
  async race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([this.ended, work]);
  }

  /** Waits for the end. @throws Interrupted, or the error of the part that failed */
  async wait(): Promise<never> {
    return this.ended;
  }

  private signalled(signal: NodeJS.Signals): void {
    if (this.abort.signal.aborted) {
      say('stopped by force');
      // The servers' watchers see us end, and end them.
      process.exit(FORCED);
    }
    this.abort.abort();
    say(signal === 'SIGINT' ? '\nstopping … (Ctrl-C again forces)' : 'stopping …');
    this.reject(new Interrupted(signal));
  }
}
