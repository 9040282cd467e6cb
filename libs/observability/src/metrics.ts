import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** The metrics of one service process; the gateway serves them at `/metrics`. */
export class Metrics {
  readonly registry = new Registry();
  readonly batchSize: Histogram;
  readonly batchSeconds: Histogram;
  readonly messages: Counter;

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    const registers = [this.registry];
    this.batchSize = new Histogram({
      name: 'fleetmend_batch_messages',
      help: 'Messages per batch',
      labelNames: ['consumer'],
      buckets: [1, 4, 16, 64, 128, 256],
      registers,
    });
    this.batchSeconds = new Histogram({
      name: 'fleetmend_batch_seconds',
      help: 'Seconds from decoding a batch to its acknowledgement',
      labelNames: ['consumer'],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.5, 2, 10],
      registers,
    });
    this.messages = new Counter({
      name: 'fleetmend_messages_total',
      help: 'Messages handled',
      labelNames: ['consumer'],
      registers,
    });
  }

  withProcess(): this {
    collectDefaultMetrics({ register: this.registry });
    return this;
  }

  batch(consumer: string, size: number, seconds: number): void {
    this.batchSize.observe({ consumer }, size);
    this.batchSeconds.observe({ consumer }, seconds);
    this.messages.inc({ consumer }, size);
  }
}
