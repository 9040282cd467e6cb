import type { CreatedKey, KeyScope } from '#contracts';
import { randomBytes } from 'node:crypto';
import { invalidRequest, notFound } from '../http/problem.js';
import type { KeyDirectory } from '../postgres/key-directory.js';
import type { Keys, NewKey } from '../postgres/keys.js';
import type { Caller } from './caller.js';
import { keyHash, newKeyText } from './key-text.js';

export interface KeyRequest {
  readonly project: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Microseconds, or null. */
  readonly expiresAt: number | null;
}

const LOCKED_OUT =
  'This is the first key, so keys are required from now on, and it has not the scope operate: make further ones with `fleetmend keys create` where DATABASE_URL is known.';

/** Makes keys and tells this process at once; other gateways see them within a second. */
export class KeyIssuer {
  constructor(
    private readonly keys: Keys,
    private readonly directory: KeyDirectory,
  ) {}

  /** @throws ProblemError 422 for an expiry in the past, 404 for an unknown project */
  async issue(request: KeyRequest, caller: Caller): Promise<CreatedKey> {
    if (request.expiresAt !== null && request.expiresAt <= Date.now() * 1_000)
      throw invalidRequest('expires_at is in the past.', [{ path: 'expires_at', message: 'is in the past' }]);
    const first = caller.key === null;
    const { text, row } = newKey(request);
    const stored = await this.keys.create(row, caller.who);
    if (stored === undefined) throw notFound(`There is no project ${request.project}; make it with POST /v1/projects.`);
    this.changed();
    return { ...stored, key: text, notes: first && !request.scopes.includes('operate') ? [LOCKED_OUT] : [] };
  }

  /** The keys have changed. */
  changed(): void {
    this.directory.forget();
  }
}

/** The key that a new project begins with. */
export function firstKeyOf(project: string): { text: string; row: NewKey } {
  return newKey({ project, name: 'first key', scopes: ['operate'], expiresAt: null });
}

function newKey(request: KeyRequest): { text: string; row: NewKey } {
  const text = newKeyText(request.project);
  return { text, row: { ...request, id: `k-${randomBytes(6).toString('hex')}`, hash: keyHash(text) } };
}
