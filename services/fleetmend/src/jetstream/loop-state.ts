import type { JetStreamManager } from '@nats-io/jetstream';
import { requiredConsumers } from '#contracts';

/**
 * Messages that the services have not finished with, over all consumers; asked in the order in which turns travel. Episodes that wait for
 * a repair are not among them: without a model nobody takes them, and what was found out about the turns is there without.
 */
export async function unfinished(jsm: JetStreamManager): Promise<number> {
  let sum = 0;
  for (const { durable, event, service } of requiredConsumers) {
    if (service === 'repair') continue;
    const { num_pending: pending, num_ack_pending: unacknowledged } = await jsm.consumers.info(event.stream, durable);
    sum += pending + unacknowledged;
  }
  return sum;
}
