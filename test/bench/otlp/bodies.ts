import { createHash } from 'node:crypto';
import { protobufOf, requestOf, type OtlpSpanJson } from '../../../services/gateway/test/otlp.js';

const WORDS =
  'order refund parcel customer address invoice delivery status account payment change request confirm ticket store label size colour return voucher'.split(
    ' ',
  );

/** Text of so many bytes, the same for the same seed. */
function text(seed: string, bytes: number): string {
  let made = '';
  for (let block = 0; made.length < bytes; block += 1) {
    for (const byte of createHash('md5').update(`${seed}-${block}`).digest()) made += `${WORDS[byte % WORDS.length] ?? ''} `;
  }
  return made.slice(0, bytes);
}

const hex = (seed: string, digits: number): string => createHash('sha256').update(seed).digest('hex').slice(0, digits);
const message = (role: string, content: string): object => ({ role, parts: [{ type: 'text', content }] });

/**
 * The `at`th span of a fleet whose traces have eight spans each: an agent, four model calls in the vocabulary of OpenTelemetry
 * (2 KiB of conversation in, 300 bytes out), three tool calls (400 bytes). 1.9 KB of JSON a span on average.
 */
function span(run: string, at: number): OtlpSpanJson {
  const trace = Math.floor(at / 8);
  const place = at % 8;
  const start = 1_769_000_000_000_000_000n + BigInt(at) * 1_000_000n;
  const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });
  const name = place === 0 ? 'invoke_agent orders' : place % 2 === 1 ? 'chat small-model' : 'execute_tool lookup_order';
  const seed = `${run}-${at}`;
  const own =
    place === 0
      ? [attribute('gen_ai.operation.name', 'invoke_agent')]
      : place % 2 === 1
        ? [
            attribute('gen_ai.operation.name', 'chat'),
            attribute('gen_ai.request.model', 'small-model'),
            attribute('gen_ai.input.messages', JSON.stringify([message('user', text(seed, 2_048))])),
            attribute('gen_ai.output.messages', JSON.stringify([message('assistant', text(`${seed}o`, 300))])),
            { key: 'gen_ai.usage.input_tokens', value: { intValue: '512' } },
          ]
        : [
            attribute('gen_ai.operation.name', 'execute_tool'),
            attribute('gen_ai.tool.name', 'lookup_order'),
            attribute('gen_ai.tool.call.arguments', JSON.stringify({ order_id: hex(seed, 12) })),
            attribute('gen_ai.tool.call.result', text(seed, 400)),
          ];
  return {
    traceId: hex(`${run}-trace-${trace}`, 32),
    spanId: hex(seed, 16),
    ...(place === 0 ? {} : { parentSpanId: hex(`${run}-${trace * 8}`, 16) }),
    name,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 900_000n),
    attributes: [...own, attribute('session.id', `session-${trace % 100}`)],
  };
}

export interface Body {
  readonly json: Buffer;
  readonly protobuf: Buffer;
  readonly spans: number;
}

/** A request of `spans` spans that no other run or index has. */
export function body(run: string, index: number, spans: number): Body {
  const request = requestOf(Array.from({ length: spans }, (_, at) => span(run, index * spans + at)));
  return { json: Buffer.from(JSON.stringify(request)), protobuf: Buffer.from(protobufOf(request)), spans };
}
