import { setTimeout as sleep } from 'node:timers/promises';
import { serviceNames } from '#contracts';
import type { Findings } from '../findings.js';
import type { Broker, ConsumerFigures, ConsumerState } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';

const POLL_MS = 200;

/** Invariant 13, first part: within `withinMs` outboxes are empty and no consumer has anything pending or unacknowledged. */
export async function checkQuiet(
  { reader, broker }: { reader: Reader; broker: Broker },
  findings: Findings,
  withinMs: number,
): Promise<void> {
  const begun = Date.now();
  const watch = new RestWatch();
  let unrest: string[] = [];
  // Twice: outboxes and consumers are not read at the same moment, and work may have been between them.
  for (let still = 0; still < 2;) {
    unrest = await watch.look(reader, broker);
    still = unrest.length === 0 ? still + 1 : 0;
    if (still >= 2 || (still === 0 && Date.now() - begun >= Math.max(withinMs, watch.patienceMs))) break;
    await sleep(POLL_MS);
  }
  findings.count('lost_acknowledgements', watch.lost);
  for (const one of unrest) findings.add(13, `${one}, after ${Date.now() - begun} ms of waiting`);
}

/** In how many times its ack_wait a consumer would have delivered again what it really waits for. */
const WAITS = 3;

/**
 * Looks at the loop again and again. nats-server 2.9, killed, may count messages as unacknowledged for ever: it neither redelivers
 * them nor lets them go, and its own restart does not help. Such are told from work by time, and no longer counted as unrest; a
 * message that was really lost is missing in the tables.
 */
export class RestWatch {
  private readonly seen = new Map<string, { readonly figures: string; readonly since: number }>();
  private readonly excused = new Map<string, number>();
  /** How long it may take to tell lost acknowledgements from work; 0 while there is no reason to think of any. */
  patienceMs = 0;

  get lost(): number {
    return [...this.excused.values()].reduce((sum, number) => sum + number, 0);
  }

  /** What is not at rest, one line each; nothing when the loop is quiet. */
  async look(reader: Reader, broker: Broker): Promise<string[]> {
    const states = await broker.consumerStates();
    this.patienceMs = Math.max(0, ...states.map((state) => this.patienceFor(state)));
    return [...(await fullOutboxes(reader)), ...states.flatMap((state) => (this.excuses(state) ? [] : unrestOf(state)))];
  }

  private patienceFor({ found }: ConsumerState): number {
    return found !== null && isSuspect(found) ? (WAITS + 1) * found.ackWaitMs : 0;
  }

  private excuses({ contract: { durable }, found }: ConsumerState): boolean {
    this.excused.delete(durable);
    if (found === null || !isSuspect(found)) return false;
    const figures = `${found.unacknowledged}|${found.deliveries}`;
    const before = this.seen.get(durable);
    if (before?.figures !== figures) {
      this.seen.set(durable, { figures, since: Date.now() });
      return false;
    }
    if (Date.now() - before.since < WAITS * found.ackWaitMs) return false;
    this.excused.set(durable, found.unacknowledged);
    return true;
  }
}

function isSuspect({ pending, unacknowledged, idle }: ConsumerFigures): boolean {
  return pending === 0 && unacknowledged > 0 && idle;
}

async function fullOutboxes(reader: Reader): Promise<string[]> {
  const outboxes = await reader.query<{ service: string; rows: number; oldest: string }>(
    serviceNames
      .map(
        (service) =>
          `SELECT '${service}' AS service, count(*) AS rows, (SELECT id || ' to ' || subject FROM ${service}.outbox ORDER BY seq LIMIT 1) AS oldest FROM ${service}.outbox`,
      )
      .join(' UNION ALL '),
  );
  return outboxes.flatMap(({ service, rows, oldest }) =>
    rows === 0 ? [] : [`expected an empty outbox of ${service}, found ${rows} rows, the oldest ${oldest}`],
  );
}

function unrestOf({ contract: { durable }, found }: ConsumerState): string[] {
  if (found === null) return [`expected the consumer ${durable}, found none`];
  const { pending, unacknowledged } = found;
  if (pending === 0 && unacknowledged === 0) return [];
  return [`expected nothing to do for ${durable}, found ${pending} pending and ${unacknowledged} unacknowledged messages`];
}
