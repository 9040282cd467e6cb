import { Counter, Gauge } from 'prom-client';
import type { Metrics } from '#observability';

/** What became of the spans that were sent to this process. */
export class OtlpMetrics {
  private readonly spans: Counter;
  private readonly rejected: Counter;
  private readonly warnings: Counter;

  /** `heldBytes` is asked at every scrape. */
  constructor({ registry }: Metrics, heldBytes: () => number) {
    const registers = [registry];
    this.spans = new Counter({
      name: 'fleetmend_otlp_spans_total',
      help: 'Spans of POST /v1/traces: accepted (stored), rejected (not valid), refused (stream full, broker or database away)',
      labelNames: ['outcome'],
      registers,
    });
    this.rejected = new Counter({
      name: 'fleetmend_otlp_rejected_spans_total',
      help: 'Rejected spans by reason',
      labelNames: ['reason'],
      registers,
    });
    this.warnings = new Counter({
      name: 'fleetmend_otlp_warnings_total',
      help: 'Things that were forgiven or changed in accepted spans, by kind',
      labelNames: ['kind'],
      registers,
    });
    new Gauge({
      name: 'fleetmend_otlp_held_bytes',
      help: 'Bytes of bodies of POST /v1/traces in memory; over the limit a body is refused with 503',
      registers,
      collect() {
        this.set(heldBytes());
      },
    });
  }

  count(outcome: 'accepted' | 'refused', spans: number): void {
    this.spans.inc({ outcome }, spans);
  }

  reject(reason: string, spans: number): void {
    this.spans.inc({ outcome: 'rejected' }, spans);
    this.rejected.inc({ reason }, spans);
  }

  warn(kind: string, spans: number): void {
    this.warnings.inc({ kind }, spans);
  }
}
