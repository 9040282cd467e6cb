import type { Capabilities, CapabilityMemory } from '#llm';
import type { UnitOfWork } from '#persistence';

/** After so long, what a model refused is tried again: endpoints are upgraded. */
const BELIEVED_DAYS = 7;
const CACHE_MS = 60_000;
/** Models that are remembered without asking the table. */
const CACHE_MAX = 1_000;

/** What models take, remembered for all processes of a service in its own table; each asks it once a minute at most. */
export class StoredCapabilities implements CapabilityMemory {
  private readonly cache = new Map<string, { readonly at: number; readonly value: Partial<Capabilities> }>();

  constructor(
    private readonly work: UnitOfWork,
    private readonly service: 'scoring' | 'repair',
  ) {}

  async recall(endpoint: string, model: string): Promise<Partial<Capabilities>> {
    const key = JSON.stringify([endpoint, model]);
    const cached = this.cache.get(key);
    if (cached !== undefined && performance.now() - cached.at < CACHE_MS) return cached.value;
    const [row] = await this.work.read<{ doc: Partial<Capabilities> }>(
      `SELECT doc FROM ${this.service}.model_capabilities WHERE endpoint = $1 AND model = $2 AND at > now() - interval '${BELIEVED_DAYS} days'`,
      [endpoint, model],
    );
    return this.keep(key, row?.doc ?? {});
  }

  async learn(endpoint: string, model: string, change: Partial<Capabilities>): Promise<void> {
    const doc = await this.work.run(async (tx) => {
      const [row] = await tx.query<{ doc: Partial<Capabilities> }>(
        `INSERT INTO ${this.service}.model_capabilities AS c (endpoint, model, doc) VALUES ($1, $2, $3)
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
    if (this.cache.size >= CACHE_MAX) this.cache.clear();
    this.cache.set(key, { at: performance.now(), value });
    return value;
  }
}
