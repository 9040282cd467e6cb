import { sessionKey } from '#domain/ids';
import type { ReplayRun } from '../rules/rule-reader.js';
import type { Database } from './database.js';

/** Replays that are remembered: each is asked about a few times, by its own agent. */
const KEPT = 1_000;

/** Which run each replay is. That never changes, so each is read once. */
export class ReplayRuns {
  private readonly known = new Map<string, ReplayRun>();

  constructor(private readonly db: Database) {}

  async of(project: string, session: string): Promise<ReplayRun | null> {
    const s = sessionKey(project, session);
    const known = this.known.get(s);
    if (known !== undefined) return known;
    const [run] = await this.db.query<ReplayRun>('SELECT arm, rule FROM validation.replays WHERE s = $1', [s]);
    if (run === undefined) return null;
    const [oldest] = this.known.keys();
    if (this.known.size >= KEPT && oldest !== undefined) this.known.delete(oldest);
    this.known.set(s, run);
    return run;
  }
}
