import { events } from '../catalogue.js';
import type { EventContract } from '../event.js';
import { LIVE_PREFIX, streams, type StreamContract } from '../streams.js';
import { severities } from '../gating.events.js';
import { PROJECT_PATTERN } from '../settings.js';
import { deadLetterHeaders } from '../system.events.js';
import { camelCase, consumersOf, deadLetterSubject, subjectOf } from './events.js';
import { jsonSchema, type Json } from './json-schema.js';

/** One valid payload per event type. */
export type Examples = Readonly<Record<string, unknown>>;

const REGULAR: Readonly<Record<string, Json>> = {
  project: { description: `The project, ${PROJECT_PATTERN.source}.`, default: 'default' },
  severity: { description: 'Of the notice.', enum: [...severities] },
  session: { description: 'The session id where it fits into a subject, else `~` and 26 characters of its base32 SHA-256.' },
  kind: { description: 'How the notices ended.', examples: ['corrected'] },
  service: { description: 'The service that speaks.', examples: ['scoring'] },
  consumer: { description: 'The durable consumer that gave the message up.', examples: ['scoring-turns'] },
};

/** The AsyncAPI 3.0 document of the bus, made of the catalogue alone. */
export function asyncApiDocument(examples: Examples): Json {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Fleetmend events',
      version: '1.0.0',
      description:
        'Every event on the bus. All are JSON in a JetStream stream, but dead letters, which are kept as they came. A reader accepts unknown fields; a change that is not an added optional field is a new event beside the old one.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { nats: { host: 'localhost:4222', protocol: 'nats', description: 'The NATS server that NATS_URL names.' } },
    channels: Object.fromEntries(events.map((event) => [camelCase(event.type), channel(event)])),
    operations: Object.fromEntries(events.flatMap(operations)),
    components: {
      messages: Object.fromEntries(events.map((event) => [camelCase(event.type), message(event, examples)])),
      schemas: Object.fromEntries(events.map((event) => [camelCase(event.type), payload(event)])),
    },
    'x-streams': Object.fromEntries(streams.map((stream) => [stream.name, streamFacts(stream)])),
  };
}

function channel(event: EventContract): Json {
  const address = subjectOf(event, (token) => `{${token}}`);
  const stream = streams.find(({ name }) => name === event.stream);
  const names = [...address.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return {
    address,
    title: event.type,
    description: event.summary,
    messages: { [camelCase(event.type)]: { $ref: `#/components/messages/${camelCase(event.type)}` } },
    ...(names.length === 0 ? {} : { parameters: Object.fromEntries(names.map((name) => [name, REGULAR[name] ?? {}])) }),
    'x-stream': event.stream,
    ...(stream?.republish === true ? { 'x-live-address': `${LIVE_PREFIX}.${address}` } : {}),
  };
}

/** One operation per publisher and per durable consumer, and one for anybody where outsiders may listen. */
function operations(event: EventContract): [string, Json][] {
  const name = camelCase(event.type);
  const about = { channel: { $ref: `#/channels/${name}` }, messages: [{ $ref: `#/channels/${name}/messages/${name}` }] };
  const sends = event.publishers.map((publisher): [string, Json] => [
    `${camelCase(publisher.replace(/^the /, '').replace(/ /g, '-'))}-send-${name}`,
    { action: 'send', title: `${publisher}: publish ${event.type}`, ...about, 'x-actor': publisher },
  ]);
  const receives = consumersOf(event).map((consumer): [string, Json] => [
    `${consumer.service}-receive-${name}`,
    {
      action: 'receive',
      title: `${consumer.service}: handle ${event.type}`,
      ...about,
      'x-actor': consumer.service,
      'x-durable': consumer.durable,
      'x-ack-wait-ms': consumer.ackWaitMs,
      'x-dead-letter-address': deadLetterSubject(consumer, '{project}'),
    },
  ]);
  const anyone: [string, Json][] =
    event.audience === 'outside'
      ? [
          [
            `anyone-receive-${name}`,
            { action: 'receive', title: `anyone: subscribe to ${event.type}`, ...about, 'x-actor': 'anyone' },
          ],
        ]
      : [];
  return [...sends, ...receives, ...anyone];
}

function message(event: EventContract, examples: Examples): Json {
  const name = camelCase(event.type);
  return {
    name: event.type,
    title: event.type,
    summary: event.summary,
    contentType: event.type === 'dead' ? 'application/octet-stream' : 'application/json',
    headers: headers(event),
    payload: { $ref: `#/components/schemas/${name}` },
    ...(event.type in examples ? { examples: [{ name: 'example', payload: examples[event.type] }] } : {}),
  };
}

function headers(event: EventContract): Json {
  const text = (description: string): Json => ({ type: 'string', description });
  const own = { 'Nats-Msg-Id': text('The event id, derived from what caused the event. Not required of agents and verifiers.') };
  const trace = { traceparent: text('W3C trace context of what caused the event, when there is one.') };
  const cloudEvents = {
    'ce-specversion': { type: 'string', const: '1.0' },
    'ce-id': text('The event id.'),
    'ce-type': { type: 'string', const: `fleetmend.${event.type}` },
    'ce-source': text('`/fleetmend/<project>`.'),
    'ce-subject': text('The subject.'),
    'ce-time': { type: 'string', format: 'date-time' },
  };
  const dead = {
    [deadLetterHeaders.reason]: text('Why the message could not succeed.'),
    [deadLetterHeaders.subject]: text('Where it was published.'),
    [deadLetterHeaders.stream]: text('The stream it came from.'),
    [deadLetterHeaders.sequence]: text('Its sequence number there.'),
    [deadLetterHeaders.deliveries]: text('How often it had been delivered.'),
    [deadLetterHeaders.cut]: text('Bytes cut off its end to fit; 0: none.'),
  };
  // Health changes are published straight away, not through an outbox, and have no CloudEvents headers.
  const outside = event.audience === 'outside' && event.type !== 'health' ? cloudEvents : {};
  return { type: 'object', properties: { ...own, ...trace, ...outside, ...(event.type === 'dead' ? dead : {}) } };
}

function payload(event: EventContract): Json {
  if (event.type === 'dead') return { description: 'The bytes of the message, whatever they are.' };
  const { $schema: _, ...rest } = jsonSchema(event.schema, 'draft-7');
  return { title: event.type, ...rest };
}

function streamFacts({ name: _, kind, summary, republish, ...limits }: StreamContract): Json {
  return { kind, summary, ...limits, republish };
}
