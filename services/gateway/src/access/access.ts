import { DEFAULT_PROJECT, keyScopes, type KeyScope } from '#contracts';
import type { FastifyRequest } from 'fastify';
import { ProblemError, problemOf } from '../http/problem.js';
import type { RouteContract } from '../http/route.js';
import type { KeyDirectory, KnownKey } from '../postgres/key-directory.js';
import type { Caller } from './caller.js';
import { keyHash } from './key-text.js';
import { isLoopbackAddress, isLoopbackHost } from './loopback.js';

const HOW_TO_CREATE = 'An operator creates one with `fleetmend keys create` or POST /v1/keys.';

/** Decides who a request is from and whether its route is theirs to use. */
export class Access {
  /** `loopbackOnly`: the gateway listens on loopback, so that it may be used without keys while there are none. */
  constructor(
    private readonly keys: KeyDirectory,
    private readonly loopbackOnly: boolean,
  ) {}

  /** Undefined for a public route. @throws ProblemError 401 or 403 */
  async callerOf(request: FastifyRequest, route: RouteContract): Promise<Caller | undefined> {
    if (route.access === 'public') return undefined;
    const text = bearer(request.headers.authorization);
    const caller = text === undefined ? await this.withoutKey(request) : await this.withKey(text);
    if (!mayUse(caller.scopes, route.access)) {
      const has = caller.scopes.join(', ');
      throw new ProblemError(
        problemOf(
          'forbidden',
          403,
          `This needs a key with the scope ${[...route.access, 'operate'].join(' or ')}; this key has ${has}.`,
        ),
      );
    }
    return caller;
  }

  /** Whether a caller that was let in (an open stream) still would be. */
  async stillValid({ key }: Caller): Promise<boolean> {
    if (key === null) return !(await this.keys.required());
    return (await this.keys.find(key.hash))?.state === 'live';
  }

  private async withKey(text: string): Promise<Caller> {
    const hash = keyHash(text);
    const key = await this.keys.find(hash);
    if (key?.state !== 'live') throw unauthenticated(reasonAgainst(key));
    return { project: key.project, scopes: key.scopes, key: { id: key.id, hash }, who: `key ${key.name} (${key.id})` };
  }

  private async withoutKey(request: FastifyRequest): Promise<Caller> {
    if (await this.keys.required()) throw unauthenticated(`Send "Authorization: Bearer fm_…". ${HOW_TO_CREATE}`);
    const reason = this.loopbackOnly ? reasonNotLocal(request) : 'the gateway listens on more than loopback';
    if (reason !== undefined)
      throw unauthenticated(
        `No key exists yet, so only this machine itself may use the gateway, and ${reason}. ${HOW_TO_CREATE}`,
      );
    return { project: DEFAULT_PROJECT, scopes: keyScopes, key: null, who: 'loopback' };
  }
}

function mayUse(scopes: readonly KeyScope[], wanted: readonly KeyScope[]): boolean {
  return scopes.includes('operate') || wanted.some((scope) => scopes.includes(scope));
}

function bearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = /^Bearer +(\S+) *$/i.exec(header)?.[1];
  if (text === undefined) throw unauthenticated('The Authorization header is not of the form "Bearer fm_…".');
  return text;
}

function reasonAgainst(key: KnownKey | undefined): string {
  if (key === undefined) return `No project has this key. ${HOW_TO_CREATE}`;
  return `The key "${key.name}" (${key.id}) is ${key.state}. ${HOW_TO_CREATE}`;
}

/**
 * Without keys everything on this machine is trusted, but not what only passes through it: a proxy, a page in a browser of this
 * machine, a foreign name that resolves to 127.0.0.1.
 */
function reasonNotLocal(request: FastifyRequest): string | undefined {
  const { headers, ip } = request;
  if (!isLoopbackAddress(ip)) return 'this request is from elsewhere';
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return 'this request came through a proxy';
  if (!isLoopbackHost(headers.host ?? '')) return 'this request names another host';
  if (headers['sec-fetch-site'] === 'cross-site') return 'this request is from a page of another site';
  return undefined;
}

function unauthenticated(detail: string): ProblemError {
  return new ProblemError(problemOf('unauthenticated', 401, detail), { 'www-authenticate': 'Bearer realm="fleetmend"' });
}
