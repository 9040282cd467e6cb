import type { JetStreamManager } from '@nats-io/jetstream';
import { requiredConsumers } from '#contracts';

/** Messages that the services have not finished with, over all consumers; asked in the order in which turns travel. */
export async function unfinished(jsm: JetStreamManager): Promise<number> {
  let sum = 0;
  for (const { durable, event } of requiredConsumers) {
    const { num_pending: pending, num_ack_pending: unacknowledged } = await jsm.consumers.info(event.stream, durable);
    sum += pending + unacknowledged;
  }
  return sum;
}
