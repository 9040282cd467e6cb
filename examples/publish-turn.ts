// Usage: publish-turn NATS_URL
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const nc = await connect({ servers: process.argv[2] ?? 'nats://127.0.0.1:4222' });
const js = jetstream(nc);
const turn = {
  session_id: 'hello-ts',
  turn_index: 0,
  status: 'completed',
  traces: [{ trace_id: 'hello-ts-0', started_at: new Date().toISOString(), input: 'What is 6 x 7?', output: '41' }],
};
// The acknowledgement means: stored.
const { stream, seq } = await js.publish('fm.default.turn.ended', JSON.stringify(turn));
process.stdout.write(`${stream} ${seq}\n`);
const verdict = { session_id: 'hello-ts', turn_index: 0, scores: [{ metric: 'outcome_correct', value: 0 }] };
await js.publish('fm.default.score.posted', JSON.stringify(verdict));
await nc.close();
