import type { KeyScope } from '#contracts';

/** Who asks. The project is always the key's, never the body's. */
export interface Caller {
  readonly project: string;
  readonly scopes: readonly KeyScope[];
  /** Null for somebody on this machine while no key exists. */
  readonly key: { readonly id: string; readonly hash: string } | null;
  /** For the journal: `key <name> (<id>)` or `loopback`. */
  readonly who: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller;
  }
}
