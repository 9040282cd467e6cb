import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { healthChanged, SYSTEM_PROJECT, type ServiceName } from '#contracts';
import type { LoadedSettings } from '#config';
import { derivedId } from '#domain/ids';
import { connectNats, JetStreamPublisher } from '#messaging/jetstream';
import { createLogger, Health, Metrics } from '#observability';
import { createDataSource, PostgresAttempts, SettingsDirectory, UnitOfWork } from '#persistence';
import { setTimeout as sleep } from 'node:timers/promises';

/** What every service has: its connections, its transaction, its view of the projects, its health. */
export class ServiceRuntime {
  constructor(
    readonly service: ServiceName,
    readonly loaded: LoadedSettings,
    readonly parts: {
      readonly nats: NatsConnection;
      readonly publisher: JetStreamPublisher;
      readonly db: DataSource;
      readonly work: UnitOfWork;
      readonly attempts: PostgresAttempts;
      readonly settings: SettingsDirectory;
      readonly health: Health;
      readonly metrics: Metrics;
      readonly logger: Logger;
    },
  ) {}

  async close(): Promise<void> {
    const { work, publisher, nats, db } = this.parts;
    await work.stop();
    publisher.close();
    // A broker that is away cannot be waited for, and the client would look for it for ever.
    await nats.drain().catch(() => nats.close());
    await db.destroy().catch(() => undefined);
  }
}

/** Connects a service; waits for a database or broker that is not up yet, and says so once. */
export async function openRuntime(service: ServiceName, loaded: LoadedSettings): Promise<ServiceRuntime> {
  const { nats_url: natsUrl, database_url: databaseUrl, log_level: level } = loaded.process;
  if (natsUrl === undefined) throw new Error('NATS_URL is not set: give it, or start everything with `fleetmend up`');
  if (databaseUrl === undefined) throw new Error('DATABASE_URL is not set: give it, or start everything with `fleetmend up`');
  const logger = createLogger(service, level);
  const nats = await connectNats({ url: natsUrl, name: service });
  const db = await connectPatiently(() => createDataSource({ url: databaseUrl, role: `fm_${service}`, name: service }), logger);
  const publisher = new JetStreamPublisher(nats, service);
  const health = new Health();
  const runtime = new ServiceRuntime(service, loaded, {
    nats,
    publisher,
    db,
    logger,
    health,
    work: new UnitOfWork(db, publisher, service, (detail) => health.report('outbox', detail)),
    attempts: new PostgresAttempts(db, service),
    settings: new SettingsDirectory(db, loaded.projects, (detail) => health.report('settings', detail)),
    metrics: new Metrics(service),
  });
  announceHealth(runtime);
  void watchBroker(nats, health);
  return runtime;
}

const CONNECT_MS = 15_000;

/**
 * A data source of its own for every try, and not for ever: one whose connection ended while it was being set up waits, when it
 * is given up, for that connection to come back to its pool.
 */
async function connectPatiently(create: () => DataSource, logger: Logger): Promise<DataSource> {
  for (let said = false; ; said = true) {
    try {
      return await Promise.race([create().initialize(), tooLong(CONNECT_MS)]);
    } catch (error) {
      if (!said) logger.warn(`waiting for the database: ${error instanceof Error ? error.message : String(error)}`);
      await sleep(500);
    }
  }
}

async function tooLong(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new Error(`no connection within ${ms} ms`);
}

function announceHealth({ service, parts: { health, publisher, logger } }: ServiceRuntime): void {
  health.onChange((change) => {
    logger[change.status === 'ok' ? 'info' : 'warn'](`${change.dependency}: ${change.detail}`);
    const at = Date.now() * 1000;
    const data = JSON.stringify({ service, ...change, at });
    void publisher.publish([
      { id: derivedId('health', service, change.dependency, at), subject: healthChanged.subject(SYSTEM_PROJECT, service), data },
    ]);
  });
}

async function watchBroker(nats: NatsConnection, health: Health): Promise<void> {
  for await (const { type } of nats.status()) {
    if (type === 'disconnect') health.report('broker', 'the connection to NATS is lost; reconnecting');
    if (type === 'reconnect') health.report('broker', null);
  }
}
