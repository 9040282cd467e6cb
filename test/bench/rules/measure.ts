import { setTimeout as sleep } from 'node:timers/promises';
import { treeCpu } from '../processes.js';

/** Asks the `n`th question; the bytes of its answer. */
export type Ask = (n: number) => Promise<number>;

export interface Figures {
  readonly perSecond: number;
  /** Of each process, microseconds a read. */
  readonly cpu: readonly number[];
  readonly p50: number;
  readonly p99: number;
  readonly bytes: number;
}

const IN_FLIGHT = 32;
const BURST_MS = 5_000;
const PACE_PER_S = 200;
const PACED = 2_000;

/** As much as it takes for a while, with 32 in flight; then 200 a second, evenly, for the times of one. */
export async function measure(ask: Ask, pids: readonly number[]): Promise<Figures> {
  await burst(ask, 1_000);
  const before = pids.map(treeCpu);
  const { count, seconds, bytes } = await burst(ask, BURST_MS);
  const cpu = pids.map((pid, index) => ((treeCpu(pid) - (before[index] ?? 0)) / count) * 1e6);
  const times = await paced(ask);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: count / seconds, cpu, p50: at(0.5), p99: at(0.99), bytes: bytes / count };
}

async function burst(ask: Ask, forMs: number): Promise<{ count: number; seconds: number; bytes: number }> {
  const began = performance.now();
  let count = 0;
  let bytes = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - began < forMs) {
      // Added afterwards: a sum that is read before it is waited for loses what others add meanwhile.
      const got = await ask(count++);
      bytes += got;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return { count, seconds: (performance.now() - began) / 1_000, bytes };
}

/** Milliseconds from when each was due, sorted: one that waits behind a slow one is late too. */
async function paced(ask: Ask): Promise<number[]> {
  const times: number[] = [];
  const began = performance.now();
  const open: Promise<void>[] = [];
  for (let n = 0; n < PACED; n += 1) {
    const due = began + (n * 1_000) / PACE_PER_S;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
    const sent = Math.max(due, Math.min(performance.now(), due + 1));
    open.push(ask(n).then(() => void times.push(performance.now() - sent)));
  }
  await Promise.all(open);
  return times.sort((a, b) => a - b);
}
