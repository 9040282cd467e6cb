import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Logger, type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { BaseRpcContext, EventPattern, Server, type CustomTransportStrategy, type MessageHandler } from '@nestjs/microservices';
import { lastValueFrom, throwError, type Observable } from 'rxjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { consumers, type ConsumerContract } from '#contracts';
import type { AttemptStore, Decoded, ProjectDirectory, StreamPublisher } from '../delivery.js';
import { BatchConsumer } from './batch-consumer.js';
import { decoderOf } from './decode.js';

export const JETSTREAM = Symbol('JETSTREAM');

/** Marks the handler of a durable: `@OnBatch(consumers.gatingScores) handle(batch: Delivery<TraceScored>[])`. */
export function OnBatch(
  contract: ConsumerContract,
  options: { decode?: (data: Uint8Array) => Decoded<unknown> } = {},
): MethodDecorator {
  return EventPattern<unknown>(contract.durable, JETSTREAM, options);
}

/** Nest's own filter replaces unknown errors; the strategy needs the original to settle by it. */
@Catch()
export class RethrowFilter implements ExceptionFilter {
  catch(error: unknown, _host: ArgumentsHost): Observable<never> {
    return throwError(() => error);
  }
}

export interface StrategyOptions {
  readonly connection: NatsConnection;
  readonly publisher: StreamPublisher;
  readonly attempts: AttemptStore;
  readonly projects: ProjectDirectory;
  readonly maxAttempts: number;
  readonly ackWaitMs: number;
  readonly graceMs: number;
  readonly onHealth?: (dependency: string, detail: string | null) => void;
  readonly onBatch?: (durable: string, size: number, seconds: number) => void;
}

const nothing = (): void => undefined;

/** Nest's transport for events: every handler is a durable pull consumer that receives batches. */
export class JetStreamStrategy extends Server implements CustomTransportStrategy {
  override readonly transportId = JETSTREAM;
  /** We see the handler's error ourselves and settle by it, so Nest must not swallow it. */
  override readonly propagatesEventHandlerErrors = true;
  private readonly running: BatchConsumer[] = [];
  private closing = false;

  constructor(private readonly options: StrategyOptions) {
    super();
  }

  listen(callback: (error?: unknown) => void): void {
    this.startAll().then(() => callback(), callback);
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all(this.running.map((consumer) => consumer.stop(this.options.graceMs)));
  }

  on(): void {
    // This transport emits no events of its own.
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- Nest's own signature
  unwrap<T>(): T {
    return this.options.connection as T;
  }

  private async startAll(): Promise<void> {
    for (const [pattern, handler] of this.messageHandlers) {
      const contract = Object.values(consumers).find(({ durable }) => durable === pattern);
      if (contract === undefined) throw new Error(`no consumer "${pattern}" in the catalogue`);
      await this.startOne(contract, handler);
    }
  }

  private async startOne(contract: ConsumerContract, handler: MessageHandler): Promise<void> {
    const { connection, onHealth = nothing, onBatch = nothing, ...rest } = this.options;
    const decode =
      (handler.extras as { decode?: (data: Uint8Array) => Decoded<unknown> } | undefined)?.decode ?? decoderOf(contract.event);
    const consumer = new BatchConsumer({
      ...rest,
      contract,
      decoder: { decode, projects: rest.projects },
      handle: async (batch) => {
        const result: unknown = await handler(batch, new BaseRpcContext([]));
        await lastValueFrom(this.transformToObservable(result as Observable<unknown>), { defaultValue: undefined });
      },
      maxPayload: () => connection.info?.max_payload ?? 1024 * 1024,
      logger: new Logger(contract.durable),
      onHealth,
      onBatch: (size, seconds) => onBatch(contract.durable, size, seconds),
    });
    await this.whenThere(contract, () => consumer.start(jetstream(connection)));
    this.running.push(consumer);
  }

  /** Streams and durables are made by `fleetmend migrate`; a service that is first waits for it and says so once. */
  private async whenThere(contract: ConsumerContract, start: () => Promise<void>): Promise<void> {
    for (let said = false; !this.closing; said = true) {
      try {
        await start();
        return;
      } catch (error) {
        if (!said) this.logger.warn(`waiting for the consumer ${contract.durable} (run \`fleetmend migrate\`): ${String(error)}`);
        await sleep(500);
      }
    }
  }
}
