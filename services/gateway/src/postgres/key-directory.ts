import type { KeyScope } from '#contracts';
import { InfrastructureError } from '#messaging';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.js';

export interface KnownKey {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly state: 'live' | 'expired' | 'revoked';
}

interface KeyRing {
  readonly byHash: ReadonlyMap<string, KnownKey>;
  /** Some key is not revoked (an expired one counts: expiry must not open the door). */
  readonly required: boolean;
  readonly readAt: number;
}

/** A revocation is promised to hold everywhere within a second. */
const REFRESH_MS = 500;
/** A database that does not answer is not waited for while there is something to go by. */
const PATIENCE_MS = 1_000;
/**
 * While the database is away nobody can revoke a key either, and turns can still be stored on the bus: what was last known goes on
 * counting, for as long as a failover takes.
 */
const STALE_MS = 300_000;

/** All keys, read at most twice a second: every gateway knows them without a query per request. */
export class KeyDirectory {
  private ring: KeyRing | undefined;
  private reading: Promise<KeyRing> | undefined;

  constructor(private readonly db: Database) {}

  /** By the SHA-256 of the key's text, hex. */
  async find(hash: string): Promise<KnownKey | undefined> {
    return (await this.current()).byHash.get(hash);
  }

  async required(): Promise<boolean> {
    return (await this.current()).required;
  }

  /** Makes the next question see what this process has just changed. */
  forget(): void {
    this.ring = undefined;
  }

  private async current(): Promise<KeyRing> {
    const known = this.ring;
    const age = known === undefined ? Infinity : performance.now() - known.readAt;
    if (known !== undefined && age < REFRESH_MS) return known;
    this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    });
    if (known === undefined || age > STALE_MS) return this.reading;
    const late = sleep(PATIENCE_MS, known, { ref: false });
    return Promise.race([this.reading, late]).catch((error: unknown) => {
      if (error instanceof InfrastructureError) return known;
      throw error;
    });
  }

  private async read(): Promise<KeyRing> {
    const readAt = performance.now();
    const rows = await this.db.query<KnownKey & { hash: string }>(
      `SELECT encode(hash, 'hex') AS hash, id, project, name, scopes,
         CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= now() THEN 'expired' ELSE 'live' END AS state
       FROM edge.api_keys`,
    );
    const byHash = new Map(rows.map(({ hash, ...key }) => [hash, key]));
    this.ring = { byHash, required: rows.some(({ state }) => state !== 'revoked'), readAt };
    return this.ring;
  }
}
