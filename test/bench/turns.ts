import { createHash } from 'node:crypto';

/** Turns that look like an agent's: a request, two tool calls, an answer, a tool catalogue; 8 KiB of JSON. Deterministic. */
export interface TurnSource {
  readonly sessions: number;
  readonly bytes: number;
  /** One session in this many goes wrong: its tool keeps failing. */
  readonly failingEvery: number;
}

const WORDS =
  'order refund parcel customer address invoice delivery status account payment change request confirm ticket store label size colour return voucher'.split(
    ' ',
  );

const catalogue = ['lookup_order', 'issue_refund', 'change_address', 'track_parcel'].map((name) => ({
  name,
  description: `${name.replace('_', ' ')} for a customer of the shop`,
  parameters: {
    type: 'object',
    properties: { order_id: { type: 'string' }, amount: { type: 'number' }, note: { type: 'string' } },
    required: ['order_id'],
  },
}));

/** Words chosen by a hash of `seed`: text that does not compress like a repeated block. */
function text(seed: string, bytes: number): string {
  let out = '';
  for (let round = 0; out.length < bytes; round += 1) {
    for (const byte of createHash('sha256').update(`${seed}|${round}`).digest())
      out += `${WORDS[byte % WORDS.length] ?? ''}${byte < 40 ? byte.toString(16) : ''} `;
  }
  return out.slice(0, bytes);
}

/** The `index`th turn of a source: sessions take turns, so that all of them are alive all the time. */
export function benchTurn(source: TurnSource, index: number, run: string): string {
  const session = index % source.sessions;
  const turn = Math.floor(index / source.sessions);
  const failing = source.failingEvery > 0 && session % source.failingEvery === source.failingEvery - 1 && turn > 0;
  const id = `${run}-${session}`;
  const at = 1_760_000_000_000_000 + index * 1_000;
  const seed = `${id}|${turn}`;
  const answer = text(`${seed}|a`, 600);
  const tool = (n: number, name: string, bytes: number) => ({
    span_id: `t${n}`,
    parent_span_id: 'root',
    name,
    kind: 'TOOL',
    status: failing ? 'ERROR' : 'OK',
    started_at: at + 10 * n,
    ended_at: at + 10 * n + 5,
    input: { order_id: `o-${session}-${turn}`, amount: session, note: text(`${seed}|n${n}`, 80) },
    ...(failing
      ? { error: { message: `the shop's service answered 503 for order ${session}` } }
      : { output: text(`${seed}|o${n}`, bytes) }),
  });
  const turnOf = (fill: number) => ({
    session_id: id,
    turn_index: turn,
    agent: { id: `agent-${session % 20}`, version: '1.4.2', model: 'desk-1' },
    started_at: at,
    ended_at: at + 900,
    status: failing ? 'error' : 'completed',
    tools: catalogue,
    traces: [
      {
        trace_id: createHash('md5').update(seed).digest('hex'),
        name: 'turn',
        started_at: at,
        ended_at: at + 900,
        status: failing ? 'ERROR' : 'OK',
        input: text(`${seed}|q`, 400),
        ...(failing ? {} : { output: answer }),
        spans: [
          { span_id: 'root', name: 'agent', kind: 'AGENT', status: failing ? 'ERROR' : 'OK', started_at: at, ended_at: at + 900 },
          {
            span_id: 'l1',
            parent_span_id: 'root',
            name: 'chat',
            kind: 'LLM',
            status: 'OK',
            model: 'desk-1',
            started_at: at + 1,
            ended_at: at + 9,
            input: text(`${seed}|i`, fill),
            output: answer,
            token_usage: { input: 900, output: 120 },
          },
          tool(1, 'lookup_order', 700),
          tool(2, 'track_parcel', 700),
        ],
      },
    ],
  });
  const empty = JSON.stringify(turnOf(0)).length;
  return JSON.stringify(turnOf(Math.max(0, source.bytes - empty)));
}
