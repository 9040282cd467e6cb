import { Gauge, type Registry } from 'prom-client';

/** How many requests of this process wait for a turn. */
export function settleGauge(registry: Registry, waiting: () => number): void {
  new Gauge({
    name: 'fleetmend_settle_waiting',
    help: 'Requests that wait here until a turn is settled',
    registers: [registry],
    collect() {
      this.set(waiting());
    },
  });
}
