import 'reflect-metadata';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ServiceName } from '#contracts';
import { loadSettings, type LoadedSettings } from '#config';
import { JetStreamStrategy, RethrowFilter } from '#messaging/jetstream';
import { PinoLogger } from '#observability';
import { openRuntime, type ServiceRuntime } from './runtime.js';

export interface RunningService {
  readonly name: ServiceName;
  stop(): Promise<void>;
}

/**
 * Starts one event-driven service in this process: its connections, its Nest module, its consumers. `stopping` fires when it is
 * told to stop: Nest's own hooks run only when the consumers have finished what they hold, which may take `shutdown_grace_s`.
 */
export async function startService(
  name: ServiceName,
  module: (runtime: ServiceRuntime, stopping: AbortSignal) => DynamicModule,
  loaded: LoadedSettings,
): Promise<RunningService> {
  const runtime = await openRuntime(name, loaded);
  const { nats, publisher, attempts, settings, health, metrics, work, logger } = runtime.parts;
  const { max_attempts: maxAttempts, ack_wait_ms: ackWaitMs, shutdown_grace_s: graceS } = loaded.process;
  const strategy = new JetStreamStrategy({
    connection: nats,
    publisher,
    attempts,
    projects: settings,
    maxAttempts,
    ackWaitMs,
    graceMs: graceS * 1000,
    onHealth: (dependency, detail) => health.report(dependency, detail),
    onBatch: (durable, size, seconds) => metrics.batch(durable, size, seconds),
  });
  const stopping = new AbortController();
  // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as a class and takes a literal
  const app = await NestFactory.createMicroservice(module(runtime, stopping.signal), {
    strategy,
    logger: new PinoLogger(logger),
    abortOnError: false,
  });
  app.useGlobalFilters(new RethrowFilter());
  work.start();
  await app.listen();
  return {
    name,
    stop: async () => {
      stopping.abort();
      await app.close();
      await runtime.close();
    },
  };
}

/** The whole of a service's `main.ts`: start, and stop in order on SIGTERM or SIGINT. */
export async function runService(start: (loaded: LoadedSettings) => Promise<RunningService>): Promise<void> {
  const service = await start(loadSettings());
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    service.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
