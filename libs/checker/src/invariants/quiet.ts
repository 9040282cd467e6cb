import { setTimeout as sleep } from 'node:timers/promises';
import { serviceNames } from '#contracts';
import type { Findings } from '../findings.js';
import type { Broker, ConsumerState } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';

const POLL_MS = 200;
const SERVICES = serviceNames.filter((name) => name !== 'gateway');

/** Invariant 13, first part: within `withinMs` outboxes are empty and no consumer has anything pending or unacknowledged. */
export async function checkQuiet(
  { reader, broker }: { reader: Reader; broker: Broker },
  findings: Findings,
  withinMs: number,
): Promise<void> {
  const until = Date.now() + withinMs;
  let unrest: string[] = [];
  // Twice: outboxes and consumers are not read at the same moment, and work may have been between them.
  for (let still = 0; still < 2;) {
    unrest = await whatMoves(reader, broker);
    still = unrest.length === 0 ? still + 1 : 0;
    if (still >= 2 || (still === 0 && Date.now() >= until)) break;
    await sleep(POLL_MS);
  }
  for (const one of unrest) findings.add(13, `${one}, after ${withinMs} ms of waiting`);
}

/** What is not at rest, one line each; nothing when the loop is quiet. */
export async function whatMoves(reader: Reader, broker: Broker): Promise<string[]> {
  const outboxes = await reader.query<{ service: string; rows: number; oldest: string }>(
    SERVICES.map(
      (service) =>
        `SELECT '${service}' AS service, count(*) AS rows, (SELECT id || ' to ' || subject FROM ${service}.outbox ORDER BY seq LIMIT 1) AS oldest FROM ${service}.outbox`,
    ).join(' UNION ALL '),
  );
  return [
    ...outboxes.flatMap(({ service, rows, oldest }) =>
      rows === 0 ? [] : [`expected an empty outbox of ${service}, found ${rows} rows, the oldest ${oldest}`],
    ),
    ...(await broker.consumerStates()).flatMap(unrestOf),
  ];
}

function unrestOf({ contract: { durable }, found }: ConsumerState): string[] {
  if (found === null) return [`expected the consumer ${durable}, found none`];
  const { pending, unacknowledged } = found;
  if (pending === 0 && unacknowledged === 0) return [];
  return [`expected nothing to do for ${durable}, found ${pending} pending and ${unacknowledged} unacknowledged messages`];
}
