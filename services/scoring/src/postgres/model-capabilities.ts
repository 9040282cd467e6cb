import type { Capabilities, CapabilityMemory } from '#llm';
import type { UnitOfWork } from '#persistence';
import { keepRecent } from '../keep-recent.js';

/** After so long, what a model refused is tried again: endpoints are upgraded. */
const BELIEVED_DAYS = 7;
const CACHE_MS = 60_000;
/** Models that are remembered without asking the table. */
const CACHE_MAX = 1_000;

/** What models take, remembered for all scoring processes; each asks the table once a minute at most. */
export class StoredCapabilities implements CapabilityMemory {
  private readonly cache = new Map<string, { readonly at: number; readonly value: Partial<Capabilities> }>();

  constructor(private readonly work: UnitOfWork) {}

  async recall(endpoint: string, model: string): Promise<Partial<Capabilities>> {
    const key = JSON.stringify([endpoint, model]);
    const cached = this.cache.get(key);
    if (cached !== undefined && performance.now() - cached.at < CACHE_MS) return cached.value;
    const [row] = await this.work.read<{ doc: Partial<Capabilities> }>(
      `SELECT doc FROM scoring.model_capabilities WHERE endpoint = $1 AND model = $2 AND at > now() - interval '${BELIEVED_DAYS} days'`,
      [endpoint, model],
    );
    return this.keep(key, row?.doc ?? {});
  }

  async learn(endpoint: string, model: string, change: Partial<Capabilities>): Promise<void> {
    const doc = await this.work.run(async (tx) => {
      const [row] = await tx.query<{ doc: Partial<Capabilities> }>(
        `INSERT INTO scoring.model_capabilities AS c (endpoint, model, doc) VALUES ($1, $2, $3)
         ON CONFLICT (endpoint, model) DO UPDATE SET at = now(),
           doc = CASE WHEN c.at > now() - interval '${BELIEVED_DAYS} days' THEN c.doc ELSE '{}' END || excluded.doc
         RETURNING doc`,
        [endpoint, model, JSON.stringify(change)],
      );
      return row?.doc ?? change;
    });
    this.keep(JSON.stringify([endpoint, model]), doc);
  }

  private keep(key: string, value: Partial<Capabilities>): Partial<Capabilities> {
    keepRecent(this.cache, key, { at: performance.now(), value }, CACHE_MAX);
    return value;
  }
}
