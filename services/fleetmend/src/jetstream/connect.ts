import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { connectNats } from '#messaging/jetstream';
import { CommandError, exitCodes } from '../exit-codes.js';

const CONNECT_MS = 5_000;

/** Connects for one command, and closes after it. @throws CommandError 4 or 5 */
export async function withBroker<T>(url: string, work: (nats: NatsConnection) => Promise<T>): Promise<T> {
  const nats = await connectInTime(url);
  try {
    return await work(nats);
  } finally {
    await nats.close();
  }
}

async function connectInTime(url: string): Promise<NatsConnection> {
  const connecting = connectNats({ url, name: 'command-line', patient: false });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CONNECT_MS} ms`)), CONNECT_MS);
  });
  try {
    return await Promise.race([connecting, late]);
  } catch (error) {
    connecting.then((nats) => nats.close()).catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      /authori[sz]ation|authentication/i.test(reason) ? exitCodes.notAllowed : exitCodes.unreachable,
      `NATS at ${hostOf(url)} cannot be used: ${reason}. Start it, or correct or unset NATS_URL`,
      { cause: error },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** A URL may hold a password. */
export function hostOf(url: string): string {
  return url
    .split(',')
    .map((one) => (URL.canParse(one) ? new URL(one).host : one.replace(/^.*@/, '')))
    .join(', ');
}

export function manager(nats: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(nats, { timeout: CONNECT_MS, checkAPI: false });
}
