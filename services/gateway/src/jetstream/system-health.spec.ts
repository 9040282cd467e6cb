import { describe, expect, it } from '@jest/globals';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { SystemHealth } from './system-health.js';

const HOUR_MS = 3_600_000;

function heard() {
  let say = (_text: string): void => undefined;
  const subscribe = ((_subject, { callback } = {}) => {
    say = (text) => void callback?.(null, { string: () => text } as Msg);
    return {};
  }) as NatsConnection['subscribe'];
  const clock = { now: 0 };
  const system = new SystemHealth({ subscribe }, () => clock.now);
  return {
    ...{ system, clock },
    degraded: (dependency: string, status = 'degraded') =>
      say(JSON.stringify({ service: 'scoring', status, dependency, detail: 'x', at: 1 })),
  };
}

describe('what services said about themselves', () => {
  it('is kept for an hour, and takes no memory afterwards, whether anybody asks or not', () => {
    const { system, clock, degraded } = heard();
    for (let n = 0; n < 100; n += 1) degraded(`judge_blocked:p${n}:judge:m`);
    clock.now = HOUR_MS - 1;
    expect(Object.keys(system.troubles())).toHaveLength(100);
    clock.now = HOUR_MS;
    degraded('broker');
    expect(system.size).toBe(1);
    expect(system.troubles()).toEqual({ 'scoring.broker': 'x' });
    degraded('broker', 'ok');
    expect(system.size).toBe(0);
  });
});
