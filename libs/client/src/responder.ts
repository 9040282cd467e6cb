import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { readRpcAnswer, RPC_ANSWERS } from '../../contracts/src/rpc-answer.js';
import { link, type Broker, type Link } from './connection.js';

/** What your function says: a value from 0 (bad) to 1 (good), true or false, or null when it cannot tell; with a reason, if you like. */
export type Verdict = Value | { readonly value: Value; readonly reason?: string | null };
type Value = number | boolean | null;

export interface ResponderOptions {
  readonly project: string;
  /** Questions that this process works on at once; further ones wait. Default 4. */
  readonly concurrency?: number;
  /** Told of everything that failed: what your function threw or said wrongly, and trouble with the broker. */
  readonly onError?: (error: Error) => void;
}

export interface Responder {
  /** Takes no more questions, answers those in hand, and disconnects if the connection was opened here. */
  close(): Promise<void>;
}

export interface Service {
  readonly name: string;
  readonly subject: string;
  /** The question as it came, parsed. */
  answer(question: unknown): Verdict | Promise<Verdict>;
}

/** Copies that share the work: each question goes to one of them. */
const QUEUE = 'fleetmend';
/** As many as one scoring worker asks at once (max_concurrent_evals). */
const CONCURRENCY = 4;
/** Whoever asks waits 10 s for an answer (verify_timeout_s); after that nobody wants it. */
const CLOSE_WITHIN_MS = 10_000;

/**
 * Answers questions on a subject until closed. Nothing that `answer` does ends the process or the service. Rejects when the broker
 * refuses the credentials or the subscription.
 */
export async function respond(broker: Broker, service: Service, options: ResponderOptions): Promise<Responder> {
  const reached = await link(broker, `${service.name}-${options.project}`);
  const subscription = reached.connection.subscribe(service.subject, { queue: QUEUE });
  const work = answerAll(subscription, service, options);
  work.catch((error: unknown) => tell(options, error));
  if (reached.own) void watch(reached.connection, options);
  let closing: Promise<void> | undefined;
  const responder = { close: () => (closing ??= close(reached, subscription, work)) };
  await reached.connection.flush();
  if (subscription.isClosed()) await work.catch((error: unknown) => abandon(responder, error));
  return responder;
}

async function abandon(responder: Responder, error: unknown): Promise<never> {
  await responder.close();
  throw error;
}

async function answerAll(subscription: Subscription, service: Service, options: ResponderOptions): Promise<void> {
  const { concurrency = CONCURRENCY } = options;
  const inHand = new Set<Promise<void>>();
  for await (const message of subscription) {
    const one: Promise<void> = answerOne(message, service)
      .catch((error: unknown) => tell(options, error))
      .finally(() => inHand.delete(one));
    inHand.add(one);
    if (inHand.size >= concurrency) await Promise.race(inHand);
  }
  await Promise.all(inHand);
}

/** Whoever asked learns of a failure too. Rejects with it, once it is answered. */
async function answerOne(message: Msg, service: Service): Promise<void> {
  try {
    const said = await service.answer(message.json());
    const answer = readRpcAnswer(said);
    if (answer === undefined) throw new TypeError(`${service.name} said ${written(said)}; expected ${RPC_ANSWERS}`);
    message.respond(JSON.stringify(answer));
  } catch (error) {
    message.respond(JSON.stringify({ error: toError(error).message }));
    throw error;
  }
}

async function watch(connection: NatsConnection, options: ResponderOptions): Promise<void> {
  for await (const status of connection.status()) if (status.type === 'error') tell(options, status.error);
}

async function close({ connection, own }: Link, subscription: Subscription, work: Promise<void>): Promise<void> {
  const drained = async (): Promise<void> => {
    await subscription.drain();
    await work;
    await (own ? connection.drain() : connection.flush());
  };
  // While the broker is away there is nobody to drain to: what fails or takes too long does not keep anybody from leaving.
  await within(CLOSE_WITHIN_MS, drained()).catch(() => undefined);
  if (own) await connection.close();
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function tell({ onError }: ResponderOptions, error: unknown): void {
  try {
    onError?.(toError(error));
  } catch {
    // A listener that fails must not end the service that it listens to.
  }
}

function written(said: unknown): string {
  return typeof said === 'number' || typeof said === 'string' ? String(said).slice(0, 200) : `a value of type ${typeof said}`;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
