import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { ruleTools } from '#contracts';
import { answer, modelServer } from '#testing';
import { freePort } from '../../support/free-port.js';
import { Service } from '../processes.js';
import type { Stack } from '../stack.js';

const POLL_MS = 5;
const PATIENT_MS = 20_000;

/**
 * Milliseconds from a breach published to its candidate readable by an agent, over `runs` breaches one after the other, with a model that
 * answers at once. Every service is a process of its own; the agent asks the gateway every 5 ms for the list of scopes.
 */
export async function breachToCandidate(stack: Stack, runs: number): Promise<number[]> {
  // Each repair writes a rule of its own in a scope of its own, and acknowledges it with the same reply.
  const model = await modelServer(({ body }) => {
    const notice = /n-[0-9a-f]{12}-[0-9a-f]{16}/.exec(JSON.stringify(body['messages']))?.[0] ?? '';
    const scope = `scope-${notice.slice(-12)}`;
    const rule = `Ask for the ${notice.slice(-12)} of the order before any refund of ${notice.slice(2, 14)}.`;
    return answer(null, {
      toolCalls: [
        { id: 'a', name: 'harness_rule_add', arguments: { rule, rationale: 'It was left out.', scope } },
        { id: 'b', name: 'harness_notice_ack', arguments: { notice_id: notice } },
      ],
    });
  });
  const port = await freePort();
  const env = {
    ...{ NATS_URL: stack.natsUrl, DATABASE_URL: stack.databaseUrl, FLEETMEND_LOG_LEVEL: 'warn' },
    ...{ FLEETMEND_REPAIR_MODEL: 'bench', FLEETMEND_REPAIR_BASE_URL: model.url, FLEETMEND_MAX_REPAIRS_PER_HOUR: '0' },
    ...{
      FLEETMEND_COALESCE: 'session',
      FLEETMEND_CIRCUIT_BREAKER_MAX_NOTICES: '0',
      FLEETMEND_MODEL_PRICES: '{"bench":{"input":0}}',
    },
  };
  const services = (['scoring', 'gating', 'mailbox', 'repair', 'validation'] as const).map((name) => Service.start(name, env));
  services.push(Service.start('gateway', { ...env, FLEETMEND_HTTP_PORT: String(port) }));
  const nc = await connect({ servers: stack.natsUrl });
  const url = `http://127.0.0.1:${port}`;
  try {
    while (
      !(await fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      ))
    )
      await sleep(100);
    await sleep(2_000);
    const times: number[] = [];
    for (let n = 0; n < runs; n += 1) times.push(await once(nc, url, n));
    return times.sort((a, b) => a - b);
  } finally {
    await nc.close();
    for (const service of services) await service.stop();
    await model.close();
  }

  async function once(nats: typeof nc, gateway: string, n: number): Promise<number> {
    const js = jetstream(nats);
    const session = `bench-${n}`;
    const before = await scopes(gateway);
    await js.publish('fm.default.turn.ended', JSON.stringify(turn(session, 0, true)));
    await sleep(200);
    const began = performance.now();
    await js.publish('fm.default.turn.ended', JSON.stringify(turn(session, 1, false)));
    while ((await scopes(gateway)) === before) {
      if (performance.now() - began > PATIENT_MS)
        throw new Error(`no candidate for ${session} within ${PATIENT_MS} ms (${ruleTools.list.name})`);
      await sleep(POLL_MS);
    }
    return performance.now() - began;
  }
}

async function scopes(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/rules`, { headers: { 'fleetmend-session': 'reader' } });
  return ((await response.json()) as { scopes: unknown[] }).scopes.length;
}

/** A turn that goes well, or one whose tool fails and that ends without an answer: a regression, and a breach in tier 2. */
function turn(session: string, index: number, well: boolean): object {
  const at = new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString();
  const span = {
    ...{ span_id: 'c1', name: 'refund', kind: 'TOOL', started_at: at, input: { cents: 100 } },
    ...(well
      ? { status: 'OK', output: { done: true } }
      : { status: 'ERROR', output: `Error: order of ${session} is locked`, error: { message: 'locked' } }),
  };
  return {
    ...{ session_id: session, turn_index: index, status: 'completed', tools: [{ name: 'refund' }] },
    traces: [
      {
        ...{
          trace_id: `${session}-${index}`,
          started_at: at,
          input: 'Please refund my order.',
          output: well ? 'I refunded your order.' : '',
        },
        spans: [span],
      },
    ],
    end_state: { progress: well ? 1 : 0.1 },
  };
}
