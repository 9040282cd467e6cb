import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, type Client } from '#client';
import { openGateway, type Fixture } from '../../services/gateway/test/fixture.js';
import { Pipeline } from './pipeline.js';

const MINUTE = 60_000;

let pipeline: Pipeline;
let gateway: Fixture;
const clients: Client[] = [];

beforeAll(async () => {
  pipeline = await Pipeline.open({ tier1_metrics: ['task_completion'] });
  gateway = await openGateway({ database_url: pipeline.db.url });
}, MINUTE);
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await gateway.close();
  await pipeline.close();
}, MINUTE);

describe.each([
  ['NATS', () => connect({ url: gateway.nats.url })],
  ['HTTP', () => connect({ http: gateway.url })],
] as const)('the client over %s', (way, opened) => {
  it('waits until a turn is settled, by a real gateway', async () => {
    const client = opened();
    clients.push(client);
    const session = `settled-over-${way}`;
    const waiting = client.settle(session, 0);
    await pipeline.ended({
      ...{ session_id: session, turn_index: 0 },
      traces: [{ trace_id: session, started_at: 1_790_000_000, input: 'question', output: 'answer' }],
    });
    await pipeline.settle();
    expect(await waiting).toMatchObject({
      session_id: session,
      turn_index: 0,
      timed_out: false,
      report: { session_id: session },
    });
  });

  it('is told when the time is over, and what is wrong with a question', async () => {
    const client = opened();
    clients.push(client);
    expect(await client.session('nobody').settle(3, { timeoutS: 0.2 })).toMatchObject({ timed_out: true, waiting: 'turn' });
    await expect(client.settle('nobody', -1)).rejects.toMatchObject({ kind: 'refused', status: 422 });
    await expect(client.settle('n'.repeat(300), 1)).rejects.toMatchObject({ kind: 'refused', status: 422 });
  });
});
