import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type ConsumerConfig,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import {
  consumers,
  LIVE_PREFIX,
  SUBJECT_ROOT,
  streams,
  subjectsOfStream,
  type ConsumerContract,
  type StreamContract,
} from '#contracts';
import { CONSUMER_NOT_FOUND, found, STREAM_NOT_FOUND } from './found.js';
import { moveEvents } from './move-events.js';

/** Streams that keep up with more than this many unacknowledged messages per consumer: two batches each for 16 copies of a service. */
const MAX_ACK_PENDING = 8_192;

/** What the broker is told of one stream. `replicas`: 1 on one server, 3 on a cluster. */
export function streamConfig(contract: StreamContract, replicas: number): Partial<StreamConfig> & { name: string } {
  const queue = contract.kind === 'queue';
  return {
    name: contract.name,
    subjects: subjectsOfStream(contract.name),
    retention: queue ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    discard: queue ? DiscardPolicy.New : DiscardPolicy.Old,
    storage: StorageType.File,
    num_replicas: replicas,
    max_bytes: contract.maxBytes,
    max_age: nanos((contract.maxAgeS ?? 0) * 1000),
    max_msgs: contract.maxMessages ?? -1,
    max_msgs_per_subject: contract.maxMessagesPerSubject ?? -1,
    discard_new_per_subject: queue && contract.maxMessagesPerSubject !== undefined,
    duplicate_window: nanos(contract.duplicateWindowS * 1000),
    deny_delete: true,
    deny_purge: true,
    allow_rollup_hdrs: false,
    ...(contract.republish ? { republish: { src: `${SUBJECT_ROOT}.>`, dest: `${LIVE_PREFIX}.${SUBJECT_ROOT}.>` } } : {}),
  };
}

export function consumerConfig(
  { durable, event }: ConsumerContract,
  ackWaitMs: number,
): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: durable,
    filter_subject: event.pattern,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_deliver: -1,
    max_ack_pending: MAX_ACK_PENDING,
  };
}

/** Fields of `wanted` in which `actual` differs; an absent field on the server equals its zero value. */
export function differences(actual: object, wanted: object): string[] {
  const zero = (value: unknown): unknown =>
    value === undefined || value === null || value === 0 || value === false ? null : value;
  const have = actual as Record<string, unknown>;
  return Object.entries(wanted)
    .filter(([key, value]) => JSON.stringify(zero(have[key])) !== JSON.stringify(zero(value)))
    .map(([key]) => key);
}

export interface TopologyOptions {
  readonly replicas: number;
  readonly ackWaitMs: number;
  /** Durables that are there only when asked for, and are asked for. */
  readonly optional?: readonly string[];
}

/** Creates or updates every stream and durable. Only `fleetmend migrate` calls this. Returns one line per change made. */
export async function applyTopology(nc: NatsConnection, options: TopologyOptions): Promise<string[]> {
  const jsm = await jetstreamManager(nc);
  const changes: string[] = [];
  for (const contract of streams) changes.push(...(await applyStream(jsm, streamConfig(contract, options.replicas))));
  for (const contract of Object.values(consumers)) {
    const wanted = !contract.optional || options.optional?.includes(contract.durable) === true;
    const change = wanted
      ? await applyConsumer(jsm, contract.event.stream, consumerConfig(contract, options.ackWaitMs))
      : await removeConsumer(jsm, contract);
    changes.push(...change);
  }
  // What is in somebody's hands comes back after the acknowledgement time.
  changes.push(...(await moveEvents(nc, jsm, 2 * options.ackWaitMs)));
  return changes;
}

async function applyStream(jsm: JetStreamManager, wanted: ReturnType<typeof streamConfig>): Promise<string[]> {
  const actual = await found(jsm.streams.info(wanted.name), STREAM_NOT_FOUND);
  if (actual === null) {
    await jsm.streams.add(wanted);
    return [`stream ${wanted.name} created`];
  }
  const changed = differences(actual.config, wanted);
  if (changed.length === 0) return [];
  await jsm.streams.update(wanted.name, wanted);
  return [`stream ${wanted.name} changed: ${changed.join(', ')}`];
}

/** One that nobody asks for any more would keep its place in the stream for ever. */
async function removeConsumer(jsm: JetStreamManager, { event, durable }: ConsumerContract): Promise<string[]> {
  const actual = await found(jsm.consumers.info(event.stream, durable), CONSUMER_NOT_FOUND);
  if (actual === null) return [];
  await jsm.consumers.delete(event.stream, durable);
  return [`consumer ${durable} removed`];
}

async function applyConsumer(
  jsm: JetStreamManager,
  stream: string,
  wanted: ReturnType<typeof consumerConfig>,
): Promise<string[]> {
  const actual = await found(jsm.consumers.info(stream, wanted.durable_name), CONSUMER_NOT_FOUND);
  if (actual === null) {
    await jsm.consumers.add(stream, wanted);
    return [`consumer ${wanted.durable_name} created`];
  }
  const changed = differences(actual.config, wanted);
  if (changed.length === 0) return [];
  await jsm.consumers.update(stream, wanted.durable_name, wanted);
  return [`consumer ${wanted.durable_name} changed: ${changed.join(', ')}`];
}
