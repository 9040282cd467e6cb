import { headers, type Msg, type MsgHdrs, type NatsConnection, type Subscription } from '@nats-io/transport-node';
import { SUBJECT_ROOT } from '../../contracts/src/event.js';
import type { SettleAnswer, SettleRequest } from '../../contracts/src/http-settle.js';
import { rpcSubject } from '../../contracts/src/rpc-subject.js';
import { LIVE_PREFIX } from '../../contracts/src/streams.js';
import { link, type Broker, type Link } from './connection.js';
import { errorOf, FleetmendError, nobody } from './errors.js';
import { READ_MS, type AnyAnswer, type Fresh, type Question, type ReadFor, type Transport } from './transport.js';

const SESSION_HEADER = 'Fm-Session';
const TURN_HEADER = 'Fm-Turn';
const ERROR_CODE = 'Nats-Service-Error-Code';
const ERROR_TEXT = 'Nats-Service-Error';

const MS_PER_S = 1_000;
/** Where the project says how long a settle takes, the question is given up after this. */
const SETTLE_S = 300;
/** The answer to a question whose time is over comes a moment later. */
const GRACE_S = 5;

interface Asked {
  readonly input: unknown;
  readonly reader: ReadFor;
  readonly timeout: number;
}

type Change = (version: number | null) => void;

/** Asks the micro services of the gateways, and is told of changes. Connects in the background, for ever. */
export class NatsTransport implements Transport {
  told = false;
  private readonly reached: Promise<Link>;
  private readonly listeners: Change[] = [];
  private readonly ending = new AbortController();
  private changes: Subscription | undefined;

  constructor(
    broker: Broker,
    private readonly project: string,
    private readonly onError: (error: Error) => void,
  ) {
    this.reached = this.reach(broker);
    this.reached.catch((error: unknown) => {
      if (!this.ending.signal.aborted) onError(nobody(error, 'the broker refuses the client'));
    });
  }

  onChange(listener: Change): void {
    this.listeners.push(listener);
  }

  async ask({ tool, input, reader }: Question): Promise<Fresh> {
    const answer = await this.request<AnyAnswer>(rpcSubject(this.project, `rules.${tool}`), { input, reader, timeout: READ_MS });
    return { same: false, answer, tag: null };
  }

  async settle(request: SettleRequest): Promise<SettleAnswer> {
    const timeout = ((request.timeout_s ?? SETTLE_S) + GRACE_S) * MS_PER_S;
    return this.request<SettleAnswer>(rpcSubject(this.project, 'settle'), { input: request, reader: {}, timeout });
  }

  async connected(): Promise<void> {
    await this.reached.catch((error: unknown) => Promise.reject(nobody(error, 'the broker refuses the client')));
  }

  async close(): Promise<void> {
    this.ending.abort();
    const ended = this.reached.then(async ({ connection, own }) => {
      this.changes?.unsubscribe();
      if (own) await connection.close();
    });
    await within(READ_MS, ended);
  }

  private async request<Answer>(subject: string, asked: Asked): Promise<Answer> {
    try {
      const { connection } = await within(READ_MS, this.reached);
      const options = { timeout: asked.timeout, headers: readerHeaders(asked.reader) };
      return answerOf(await connection.request(subject, JSON.stringify(asked.input), options)) as Answer;
    } catch (error) {
      throw nobody(error, `nobody answers on ${subject}`);
    }
  }

  /** Connects, and listens for changes before the first question: none of them is missed from then on. */
  private async reach(broker: Broker): Promise<Link> {
    const reached = await link(broker, `client-${this.project}`, this.ending.signal);
    const { connection } = reached;
    const changes = connection.subscribe(`${LIVE_PREFIX}.${SUBJECT_ROOT}.${this.project}.rule.changed`, {
      callback: (error, message) => {
        if (error === null) this.tell(versionOf(message));
        else this.lost(error);
      },
    });
    this.changes = changes;
    await connection.flush().catch(() => undefined);
    this.told = !changes.isClosed();
    void this.watch(connection, changes);
    return reached;
  }

  /** What is told while the connection is away is missed: nothing from before is believed. */
  private async watch(connection: NatsConnection, changes: Subscription): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue;
      this.told = type === 'reconnect' && !changes.isClosed();
      this.tell(null);
    }
  }

  /** A user who may not be told asks again after a second, as over HTTP. */
  private lost(error: Error): void {
    this.told = false;
    this.onError(error);
  }

  private tell(version: number | null): void {
    for (const listener of this.listeners) listener(version);
  }
}

/** @throws FleetmendError when a micro service says that it cannot answer */
function answerOf(message: Msg): unknown {
  const code = message.headers?.get(ERROR_CODE) ?? '';
  if (code !== '') throw errorOf(Number(code), message.headers?.get(ERROR_TEXT) ?? `the gateway answered with code ${code}`);
  return message.json();
}

/** Null for what cannot be read: then nothing from before is believed. */
function versionOf(message: Msg): number | null {
  try {
    const { version } = message.json<{ version?: unknown }>();
    return typeof version === 'number' ? version : null;
  } catch {
    return null;
  }
}

function readerHeaders({ session, turn }: ReadFor): MsgHdrs {
  const named = headers();
  if (session !== undefined) named.set(SESSION_HEADER, session);
  if (turn !== undefined) named.set(TURN_HEADER, String(turn));
  return named;
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new FleetmendError('unavailable', 'the broker is not reached yet')), milliseconds);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
