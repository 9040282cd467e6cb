import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { TurnInput } from '#recordings';
import { freePort } from './free-port.js';
import { isBuilt, ServiceProcess } from './service-process.js';

const BATCH = 20;
const PAUSE_MS = 200;
const REQUEST_MS = 15_000;

/** The gateway as a process, and a client that sends until it is told that everything is stored. */
export class GatewayProcess {
  private readonly keys = new Map<string, string>();

  private constructor(
    readonly service: ServiceProcess,
    readonly url: string,
  ) {}

  /** Undefined while there is no gateway to start. */
  static async prepare(env: Readonly<Record<string, string>>): Promise<GatewayProcess | undefined> {
    if (!isBuilt('gateway')) return undefined;
    const port = await freePort();
    const service = new ServiceProcess('gateway', { ...env, FLEETMEND_HTTP_PORT: String(port) });
    return new GatewayProcess(service, `http://127.0.0.1:${port}`);
  }

  /** A key for a project, as an operator with the database would make it. */
  async admit(db: pg.Pool, project: string): Promise<void> {
    const key = `fm_${project}_${randomBytes(32).toString('base64url')}`;
    this.keys.set(project, key);
    const hash = createHash('sha256').update(key).digest();
    await db.query('INSERT INTO edge.api_keys (id, project, name, hash, scopes) VALUES ($1, $2, $3, $4, $5)', [
      `k-${randomBytes(6).toString('hex')}`,
      project,
      'test',
      hash,
      ['ingest'],
    ]);
  }

  /** Sends turns until each was accepted; calls `accepted` for each. A gateway that is away or refuses for now is asked again. */
  async publish(project: string, turns: readonly TurnInput[], accepted: (turn: TurnInput) => void): Promise<void> {
    for (let from = 0; from < turns.length; from += BATCH) {
      let open = turns.slice(from, from + BATCH);
      while (open.length > 0) {
        const stored = await this.post(project, open);
        for (const index of stored) accepted(open[index] as TurnInput);
        open = open.filter((_, index) => !stored.has(index));
        if (open.length > 0) await sleep(PAUSE_MS);
      }
    }
  }

  private async post(project: string, turns: readonly TurnInput[]): Promise<Set<number>> {
    try {
      const response = await fetch(`${this.url}/v1/turns`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.keys.get(project) ?? ''}` },
        body: JSON.stringify(turns),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const answer = (await response.json()) as { results?: { index: number; status: string; error?: { status: number } }[] };
      const results = answer.results ?? [];
      const hopeless = results.find(({ error }) => error !== undefined && error.status < 500);
      if (hopeless !== undefined) throw new HopelessError(`a turn was refused: ${JSON.stringify(hopeless)}`);
      if (response.status === 401 || response.status === 403) {
        // A gateway that was just started may not have read the key yet.
        return new Set();
      }
      return new Set(results.filter(({ status }) => status === 'accepted').map(({ index }) => index));
    } catch (error) {
      if (error instanceof HopelessError) throw error;
      return new Set();
    }
  }
}

class HopelessError extends Error {}
