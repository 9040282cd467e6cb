import {
  AuthorizationError,
  connect,
  credsAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
  type Authenticator,
  type ConnectionOptions,
  type NatsConnection,
} from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';

/** Who one is to the broker: nobody, a user, a token, or the content of a `.creds` file. */
export interface Credentials {
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly creds?: string;
}

/** Where the broker is (several URLs separated by commas), or a connection that stays its owner's. */
export type Broker = ({ readonly url: string } & Credentials) | { readonly connection: NatsConnection };

export interface Link {
  readonly connection: NatsConnection;
  /** Whether it was opened here, and is to be closed here. */
  readonly own: boolean;
}

/** Between two tries to reach a server that is not up yet. */
const TRY_AGAIN_MS = 500;

/**
 * Connects, waiting for a server that is not up yet until `signal` is aborted, and again for ever whenever it goes away. Rejects when the
 * credentials are refused now; refused later (while an operator changes them, say) they are tried again.
 */
export async function link(broker: Broker, name: string, signal?: AbortSignal): Promise<Link> {
  if ('connection' in broker) return { connection: broker.connection, own: false };
  const options = optionsOf(broker, name);
  // The library has one switch for both times, so the first time is tried with a connection of its own.
  const trial = await firstConnection({ ...options, ignoreAuthErrorAbort: false }, signal);
  await trial.close();
  return { connection: await connect({ ...options, ignoreAuthErrorAbort: true }), own: true };
}

/** The library's own waiting cannot be ended, and would keep the process alive. */
async function firstConnection(options: ConnectionOptions, signal: AbortSignal | undefined): Promise<NatsConnection> {
  for (;;) {
    try {
      return await connect({ ...options, waitOnFirstConnect: false });
    } catch (error) {
      if (error instanceof AuthorizationError || signal?.aborted === true) throw error;
      await sleep(TRY_AGAIN_MS, undefined, signal === undefined ? {} : { signal });
    }
  }
}

function optionsOf({ url, ...credentials }: { readonly url: string } & Credentials, name: string): ConnectionOptions {
  const authenticator = authenticatorOf(credentials);
  return {
    servers: url.split(','),
    name,
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    ...(authenticator === undefined ? {} : { authenticator }),
  };
}

function authenticatorOf({ user, pass, token, creds }: Credentials): Authenticator | undefined {
  if (creds !== undefined) return credsAuthenticator(new TextEncoder().encode(creds));
  if (token !== undefined) return tokenAuthenticator(token);
  return user === undefined ? undefined : usernamePasswordAuthenticator(user, pass);
}
