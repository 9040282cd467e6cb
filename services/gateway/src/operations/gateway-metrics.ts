import { Counter, Gauge, Histogram } from 'prom-client';
import type { Metrics } from '#observability';
import type { Outcome } from '../ingest/ingest.js';
import type { Backlog } from '../jetstream/backlog.js';
import type { ProviderBlockRows } from '../postgres/provider-blocks.js';
import type { ScoreQueues } from '../postgres/score-queues.js';
import { ScoringGauges } from './scoring-gauges.js';

const CONSUMER = ['stream', 'consumer'] as const;

export interface MetricSources {
  readonly backlog: Backlog;
  readonly queues: ScoreQueues;
  readonly blocks: ProviderBlockRows;
}

/** The gateway's own metrics, and those that it reads from JetStream and Postgres when it is scraped. */
export class GatewayMetrics {
  private readonly items: Counter;
  private readonly seconds: Histogram;
  private readonly brokerUp: Gauge;
  private readonly oldestTurn: Gauge;
  private readonly gauges: Readonly<Record<'pending' | 'unacknowledged' | 'redelivered', Gauge>>;

  private readonly backlog: Backlog;
  private readonly scoring: ScoringGauges;

  constructor(
    private readonly metrics: Metrics,
    { backlog, queues, blocks }: MetricSources,
  ) {
    this.backlog = backlog;
    this.scoring = new ScoringGauges(metrics.registry, queues, blocks);
    const registers = [metrics.registry];
    this.items = new Counter({
      name: 'fleetmend_ingest_items_total',
      help: 'Items of POST /v1/turns and /v1/scores: accepted (stored), rejected (not valid), refused (stream full, broker or database away)',
      labelNames: ['event', 'outcome'],
      registers,
    });
    this.seconds = new Histogram({
      name: 'fleetmend_http_seconds',
      help: 'Seconds from a request to the end of its answer',
      labelNames: ['route', 'status'],
      buckets: [0.002, 0.01, 0.05, 0.2, 1, 5, 30],
      registers,
    });
    this.brokerUp = new Gauge({ name: 'fleetmend_broker_up', help: '1 when JetStream answered this scrape', registers });
    this.oldestTurn = new Gauge({
      name: 'fleetmend_oldest_unprocessed_turn_seconds',
      help: 'Age of the oldest turn that scoring has not finished: the first thing to alert on',
      registers,
    });
    const gauge = (name: string, help: string): Gauge =>
      new Gauge({ name: `fleetmend_consumer_${name}`, help, labelNames: CONSUMER, registers });
    this.gauges = {
      pending: gauge('pending', 'Messages not delivered yet'),
      unacknowledged: gauge('unacknowledged', 'Messages delivered and not acknowledged yet'),
      redelivered: gauge('redelivered', 'Messages delivered again and not acknowledged yet'),
    };
  }

  count(event: string, outcome: Outcome, items: number): void {
    this.items.inc({ event, outcome }, items);
  }

  request(route: string, status: number, seconds: number): void {
    this.seconds.observe({ route, status }, seconds);
  }

  /** Prometheus text. When the broker or the database is away the rest is still told, and `fleetmend_broker_up` or `_database_up` is 0. */
  async render(): Promise<{ text: string; contentType: string }> {
    await Promise.all([this.refresh(), this.scoring.refresh()]);
    return { text: await this.metrics.registry.metrics(), contentType: this.metrics.registry.contentType };
  }

  private async refresh(): Promise<void> {
    try {
      const [consumers, age] = await Promise.all([this.backlog.ofConsumers(), this.backlog.oldestTurnAgeS()]);
      for (const { stream, consumer, ...values } of consumers) {
        for (const name of ['pending', 'unacknowledged', 'redelivered'] as const)
          this.gauges[name].set({ stream, consumer }, values[name]);
      }
      this.oldestTurn.set(age);
      this.brokerUp.set(1);
    } catch {
      // Old figures would look like fresh ones.
      for (const gauge of [...Object.values(this.gauges), this.oldestTurn]) gauge.reset();
      this.oldestTurn.remove();
      this.brokerUp.set(0);
    }
  }
}
