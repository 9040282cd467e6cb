import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { deadLetter, requiredConsumers, streams, turnEnded, type ConsumerContract, type StreamContract } from '#contracts';
import { consumerConfig, differences, streamConfig } from '#messaging/jetstream';
import { hostOf, manager, withBroker } from '../jetstream/connect.js';
import { oldestMessage } from '../jetstream/oldest-message.js';
import { fail, findings, ok, warn, type Finding } from './finding.js';

const LEAST_VERSION = [2, 9, 10];
const MIGRATE = 'run `fleetmend migrate`';
/** A pull request waits for seconds, and between two there may be a batch's work. */
const PULL_LOOKS = 5;
const PULL_PAUSE_MS = 200;
/** Most turns are scored within a second of their coming. */
const SLOW_TURN_S = 60;
const NEARLY_FULL = 0.8;

/** Broker, streams and consumers. `dead`: how many dead letters there are, null when that is not known. */
export interface BrokerState {
  readonly findings: Finding[];
  readonly dead: number | null;
}

/** What the settings say about the consumers. */
export interface Expected {
  readonly ackWaitMs: number;
  /** Whether a repair service has to be there: without a model it is left out. */
  readonly repairs: boolean;
}

export async function lookAtBroker(url: string, expected: Expected): Promise<BrokerState> {
  let dead: number | null = null;
  const found = await findings('broker', 'start it, or correct NATS_URL', () =>
    withBroker(url, async (nats) => {
      const jsm = await manager(nats);
      const about = await account(nats, jsm, url);
      if (about.status === 'fail') return [about];
      const inStreams = await Promise.all(streams.map((contract) => stream(jsm, contract)));
      dead = inStreams.find(({ name }) => name === deadLetter.stream)?.messages ?? null;
      const inConsumers = await Promise.all(requiredConsumers.map((contract) => consumer(jsm, contract, expected)));
      return [about, ...inStreams.map(({ finding }) => finding), ...inConsumers, await oldestTurn(jsm)];
    }),
  );
  return { findings: found, dead };
}

async function account(nats: NatsConnection, jsm: JetStreamManager, url: string): Promise<Finding> {
  const version = nats.info?.version ?? 'unknown';
  try {
    await jsm.getAccountInfo();
  } catch (error) {
    return fail('broker', `${hostOf(url)} answers, but not JetStream: ${String(error)}`, 'start nats-server with -js');
  }
  if (isOlder(version)) return fail('broker', `nats-server ${version}`, `upgrade to ${LEAST_VERSION.join('.')} or later`);
  return ok(
    'broker',
    `nats-server ${version} at ${hostOf(url)}, JetStream is on; no feature beyond ${LEAST_VERSION.join('.')} is used`,
  );
}

function isOlder(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  for (const [at, least] of LEAST_VERSION.entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

async function stream(
  jsm: JetStreamManager,
  contract: StreamContract,
): Promise<{ name: string; finding: Finding; messages: number | null }> {
  const { name } = contract;
  try {
    const info = await jsm.streams.info(name);
    return { name, finding: judged(info, contract), messages: info.state.messages };
  } catch (error) {
    return { name, finding: fail(`stream ${name}`, reasonOf(error), MIGRATE), messages: null };
  }
}

function judged({ config, state }: StreamInfo, contract: StreamContract): Finding {
  const check = `stream ${contract.name}`;
  // How many copies is the operator's choice, made with `migrate --replicas`.
  const changed = differences(config, streamConfig(contract, config.num_replicas));
  if (changed.length > 0) return fail(check, `not as it should be: ${changed.join(', ')}`, MIGRATE);
  const detail = `${state.messages} messages, ${(state.bytes / 1024 ** 2).toFixed(1)} of ${contract.maxBytes / 1024 ** 2} MiB`;
  const full = contract.kind === 'queue' && state.bytes > NEARLY_FULL * contract.maxBytes;
  return full ? warn(check, detail, 'start more copies of the service that reads it') : ok(check, detail);
}

async function consumer(jsm: JetStreamManager, contract: ConsumerContract, { ackWaitMs, repairs }: Expected): Promise<Finding> {
  const { durable, event, service } = contract;
  const check = `consumer ${durable}`;
  try {
    const { config, num_pending: pending, num_ack_pending: unacknowledged } = await jsm.consumers.info(event.stream, durable);
    const changed = differences(config, consumerConfig(contract, ackWaitMs));
    const detail = `${pending} waiting, ${unacknowledged} in work`;
    if (changed.length > 0) return fail(check, `not as it should be: ${changed.join(', ')}`, MIGRATE);
    if (await isPulled(jsm, event.stream, durable)) return ok(check, detail);
    if (service === 'repair' && !repairs) return withoutRepair(check, pending);
    const text = `${detail}; nobody takes from it`;
    return pending > 0
      ? fail(check, text, `start the ${service} service (\`fleetmend up\` starts all)`)
      : warn(check, text, `start the ${service} service`);
  } catch (error) {
    return fail(check, reasonOf(error), MIGRATE);
  }
}

function withoutRepair(check: string, pending: number): Finding {
  const text = `${pending} waiting; repair_model is not set, so nobody repairs`;
  return pending > 0 ? warn(check, text, 'set repair_model, if episodes are to be repaired') : ok(check, text);
}

async function isPulled(jsm: JetStreamManager, streamName: string, durable: string): Promise<boolean> {
  for (let look = 0; look < PULL_LOOKS; look += 1) {
    const { num_waiting: waiting } = await jsm.consumers.info(streamName, durable);
    if (waiting > 0) return true;
    await sleep(PULL_PAUSE_MS);
  }
  return false;
}

/** The first thing to look at when the loop is slow: how long the oldest turn has been waiting. */
async function oldestTurn(jsm: JetStreamManager): Promise<Finding> {
  const at = await oldestMessage(jsm, turnEnded.stream, turnEnded.pattern);
  if (at === undefined) return ok('oldest turn', 'none is waiting');
  const ageS = (Date.now() - at.getTime()) / 1000;
  const detail = `the oldest unprocessed turn came ${ageS.toFixed(1)} s ago`;
  return ageS > SLOW_TURN_S ? fail('oldest turn', detail, 'start the scoring service, or more of it') : ok('oldest turn', detail);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
