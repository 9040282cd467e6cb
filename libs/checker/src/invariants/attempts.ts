import { serviceNames } from '#contracts';
import type { Findings } from '../findings.js';
import type { Broker } from '../jetstream/broker.js';
import type { Reader } from '../postgres/reader.js';

interface AttemptRow {
  readonly service: string;
  readonly consumer: string;
  readonly event: string;
  readonly attempts: number;
}

const LIMIT = 200;

/** Invariant 13, second part: attempts are kept only of messages that are dead (in FM_DEAD) or alive (not acknowledged yet). */
export async function checkAttempts({ reader, broker }: { reader: Reader; broker: Broker }, findings: Findings): Promise<void> {
  const floors = new Map(
    (await broker.consumerStates()).map(({ contract, found }) => [contract.durable, found?.ackFloor ?? Number.MAX_SAFE_INTEGER]),
  );
  const json = JSON.stringify([...floors].map(([consumer, floor]) => ({ consumer, floor })));
  const services = serviceNames.filter((name) => name !== 'gateway');
  const all = services.map((service) => `SELECT '${service}' AS service, consumer, event, attempts FROM ${service}.attempts`);
  const rows = await reader.query<AttemptRow>(
    `SELECT a.* FROM (${all.join(' UNION ALL ')}) a
     LEFT JOIN json_to_recordset($1::json) AS f(consumer text, floor bigint) ON f.consumer = a.consumer
     WHERE NOT EXISTS (SELECT 1 FROM checker_dead d WHERE d.consumer = a.consumer AND d.stream || ':' || d.seq = a.event)
       AND NOT coalesce(split_part(a.event, ':', 2)::bigint > f.floor, false) LIMIT ${LIMIT}`,
    [json],
  );
  findings.count('attempts', await reader.number(`SELECT count(*) FROM (${all.join(' UNION ALL ')}) a`));
  for (const { service, consumer, event, attempts } of rows)
    findings.add(
      13,
      `${service}.attempts holds ${attempts} attempts of ${consumer} at ${event}: expected a dead letter or a message in work, found neither`,
    );
}
