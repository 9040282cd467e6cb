import { AckPolicy, DeliverPolicy, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import { replayDurable, replayRequested } from '#contracts';

/** Workers take a request and say so at once: what comes after that is the row's to see. */
const ACK_WAIT_MS = 30_000;
const CONSUMER_NOT_FOUND = 10_014;

/** Where a project's replay workers wait for requests. */
export class ReplayQueue {
  private manager: Promise<JetStreamManager> | undefined;
  private readonly made = new Set<string>();

  constructor(private readonly nats: NatsConnection) {}

  /** Whether a worker waits for a request that nobody has sent yet. Makes the project's durable when there is none. */
  async hasIdleWorker(project: string): Promise<boolean> {
    this.manager ??= jetstreamManager(this.nats).catch((error: unknown) => {
      this.manager = undefined;
      throw error;
    });
    const manager = await this.manager;
    await this.make(manager, project);
    try {
      const { num_waiting: waiting, num_pending: pending } = await manager.consumers.info(
        replayRequested.stream,
        replayDurable(project),
      );
      return waiting > 0 && pending === 0;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === CONSUMER_NOT_FOUND) this.made.delete(project);
      throw error;
    }
  }

  private async make(manager: JetStreamManager, project: string): Promise<void> {
    if (this.made.has(project)) return;
    await manager.consumers.add(replayRequested.stream, {
      durable_name: replayDurable(project),
      filter_subject: replayRequested.subject(project),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: nanos(ACK_WAIT_MS),
      max_deliver: -1,
    });
    this.made.add(project);
  }
}
