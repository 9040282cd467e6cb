import { loadSettings } from '#config';
import type { ApiKey, EffectiveSettings, Problem, SessionTrajectory, TurnsResponse } from '#contracts';
import { testDatabase, testNats, type TestDatabase, type TestNats } from '#testing';
import { startGateway, type RunningGateway } from '../src/start.js';

/** A gateway on a free port, with its own database and broker. */
export interface Fixture {
  readonly url: string;
  readonly nats: TestNats;
  readonly db: TestDatabase;
  readonly gateway: RunningGateway;
  /** A further gateway on the same servers. */
  another(overrides?: Record<string, unknown>): Promise<RunningGateway>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly key?: string | undefined;
  /** Sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly base?: string;
}

/** What answers hold, as far as tests look at it; what an answer has not is absent whatever this says. */
export interface Body extends Omit<Problem, 'status'>, TurnsResponse, SessionTrajectory, EffectiveSettings, ApiKey {
  readonly status: unknown;
  readonly errors: { readonly path: string; readonly message: string }[];
  readonly items: Record<string, unknown>[];
  readonly next_cursor: string | null;
  readonly key: string;
  readonly notes: string[];
  readonly missing: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

export async function openGateway(overrides: Record<string, unknown> = {}): Promise<Fixture> {
  const [db, nats] = await Promise.all([testDatabase(), testNats()]);
  const started: RunningGateway[] = [];
  const another = async (more: Record<string, unknown> = {}): Promise<RunningGateway> => {
    const base = { nats_url: nats.url, database_url: db.url, http_port: 0, log_level: 'silent', shutdown_grace_s: 2 };
    const gateway = await startGateway(loadSettings({}, { ...base, ...overrides, ...more }));
    started.push(gateway);
    return gateway;
  };
  const gateway = await another();
  return {
    url: gateway.url,
    nats,
    db,
    gateway,
    another,
    call: (method, path, options = {}) => call(options.base ?? gateway.url, method, path, options),
    close: async () => {
      await Promise.all(started.map((one) => one.stop()));
      await Promise.all([nats.drop(), db.drop()]);
    },
  };
}

async function call(base: string, method: string, path: string, { key, body, headers = {} }: CallOptions): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array;
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = /[/+]json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (json && text !== '' ? JSON.parse(text) : undefined) as Body,
  };
}

/** A small valid turn. */
export function turn(session: string, index: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    session_id: session,
    turn_index: index,
    traces: [{ trace_id: `${session}-${index}`, started_at: '2026-11-30T02:00:00Z', input: 'question', output: 'answer' }],
    ...more,
  };
}
