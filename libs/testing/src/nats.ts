import type { NatsConnection } from '@nats-io/transport-node';
import { rm } from 'node:fs/promises';
import { startNats, type RunningNats } from '#embedded';
import { applyTopology, connectNats } from '#messaging/jetstream';
import { tempDir } from './temp-dir.js';

/** A private NATS server with JetStream and all our streams and consumers. */
export interface TestNats {
  readonly url: string;
  /** A connection of the test's own, closed by `drop`. */
  connect(name?: string): Promise<NatsConnection>;
  /** Stops the server and keeps its streams, as a crash or a restart of it would. */
  stop(): Promise<void>;
  /** Starts it again at the same URL. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  drop(): Promise<void>;
}

const ACK_WAIT_MS = 10_000;

export async function testNats(): Promise<TestNats> {
  const dir = await tempDir();
  let server: RunningNats | undefined = await startNats({ dir });
  const { url } = server;
  const port = Number(new URL(url).port);
  const connections: NatsConnection[] = [];
  const connect = async (name = 'test'): Promise<NatsConnection> => {
    const connection = await connectNats({ url, name });
    connections.push(connection);
    return connection;
  };
  const stop = async (): Promise<void> => {
    await server?.stop();
    server = undefined;
  };
  await applyTopology(await connect('topology'), { replicas: 1, ackWaitMs: ACK_WAIT_MS });
  return {
    url,
    connect,
    stop,
    start: async () => {
      server ??= await startNats({ dir, pickPort: () => Promise.resolve(port) });
    },
    drop: async () => {
      await Promise.all(connections.map((connection) => connection.close()));
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
