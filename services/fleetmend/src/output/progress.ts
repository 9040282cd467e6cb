import { terminals, writeErr } from './write.js';

const BAR = 24;
const PAUSE_MS = 100;

/** A bar on a terminal; elsewhere nothing, since half a bar in a log file helps nobody. */
export class Progress {
  private drawnAt = -Infinity;
  private shown = false;

  constructor(
    private readonly title: string,
    private readonly total: number,
  ) {}

  /** `done` of the total (bytes, turns), with a text beside the bar. */
  show(done: number, text: string): void {
    if (!terminals.err || performance.now() - this.drawnAt < PAUSE_MS) return;
    this.drawnAt = performance.now();
    this.shown = true;
    const share = this.total > 0 ? Math.min(1, done / this.total) : 0;
    const full = Math.round(share * BAR);
    writeErr(`\r\x1b[K${this.title} [${'█'.repeat(full)}${'·'.repeat(BAR - full)}] ${Math.round(share * 100)} %  ${text}`);
  }

  /** Takes the bar away, so that what comes next begins on a clean line. */
  clear(): void {
    if (this.shown) writeErr('\r\x1b[K');
    this.shown = false;
  }
}
