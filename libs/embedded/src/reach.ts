import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedError, reasonOf } from './errors.js';
import { readNatsInfo } from './nats/nats-info.js';
import { connectTo } from './postgres/connect.js';

/** A server started beside us (by Compose, say) may need a moment longer than we do. */
export const REACH_MS = 10_000;
const TRY_MS = 3_000;
const PAUSE_MS = 250;
const NATS_PORT = 4222;

/**
 * Makes sure the servers of NATS_URL (several may be given, separated by commas) include one that answers.
 * Throws EmbeddedError (unreachable), naming the variable and host and port, never the user's password.
 */
export async function checkNats(urls: string, withinMs = REACH_MS): Promise<void> {
  const servers = urls.split(',').map((url) => parseNatsUrl(url.trim()));
  const where = servers.map(({ host, port }) => `${host}:${port}`).join(', ');
  await retry('NATS_URL', where, withinMs, () => anyAnswer(servers));
}

/** Throws why the first of them does not answer when none does. */
async function anyAnswer(servers: NatsAddress[]): Promise<void> {
  const answers = await Promise.allSettled(servers.map(answer));
  const [first] = answers;
  if (first?.status === 'rejected' && answers.every(({ status }) => status === 'rejected')) throw first.reason;
}

interface NatsAddress {
  protocol: string;
  host: string;
  port: number;
}

function parseNatsUrl(url: string): NatsAddress {
  const withProtocol = url.includes('://') ? url : `nats://${url}`;
  if (!URL.canParse(withProtocol)) throw new EmbeddedError('unreachable', 'NATS_URL is not a URL such as nats://host:4222');
  const { protocol, hostname, port } = new URL(withProtocol);
  return {
    protocol,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (DEFAULT_PORTS[protocol] ?? NATS_PORT) : Number(port),
  };
}

const DEFAULT_PORTS: Record<string, number> = { 'ws:': 80, 'wss:': 443 };

/** Where the first bytes belong to TLS or HTTP, the server's greeting cannot be read, and an open port has to do. */
async function answer({ protocol, host, port }: NatsAddress): Promise<void> {
  if (protocol === 'nats:') await readNatsInfo(host, port, TRY_MS);
  else await openPort(host, port);
}

function openPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: TRY_MS });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error(`no answer within ${TRY_MS} ms`)));
    socket.once('error', reject);
  });
}

/** Makes sure the Postgres of DATABASE_URL lets us in. Throws EmbeddedError (unreachable), as `checkNats` does. */
export async function checkDatabase(url: string, withinMs = REACH_MS): Promise<void> {
  if (!URL.canParse(url))
    throw new EmbeddedError('unreachable', 'DATABASE_URL is not a URL such as postgresql://user:password@host:5432/name');
  const { hostname, port, pathname } = new URL(url);
  await retry('DATABASE_URL', `${hostname || 'localhost'}:${port || '5432'}${pathname}`, withinMs, async () => {
    const client = await connectTo(url, TRY_MS);
    await client.end();
  });
}

async function retry(variable: string, where: string, withinMs: number, attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      // The cause is left out on purpose: drivers put the whole URL, password included, into some of their errors.
      if (Date.now() >= deadline) {
        throw new EmbeddedError(
          'unreachable',
          `${variable}: the server at ${where} cannot be used: ${reasonOf(error)}. Start it, or correct or unset ${variable}`,
        );
      }
      await delay(PAUSE_MS);
    }
  }
}
