import type { Problem } from '../../contracts/src/http.js';
import type { SettleAnswer, SettleRequest } from '../../contracts/src/http-settle.js';
import { errorOf, FleetmendError, nobody } from './errors.js';
import { READ_MS, type AnyAnswer, type Fresh, type Question, type ReadFor, type Transport } from './transport.js';

export interface HttpOptions {
  /** Where the gateway answers, for example `http://127.0.0.1:4320`. */
  readonly http: string;
  /** An API key with the scope rules:read, and ingest or observe to settle. */
  readonly key?: string | undefined;
}

/** `fetch` of Node gives up a connection that has been silent for five minutes. */
const LONGEST_SETTLE_S = 290;
const MS_PER_S = 1_000;
const NOT_MODIFIED = 304;
const DEFAULT_SCOPE = 'global';

/** Asks over HTTP. Nobody tells of changes: an answer is asked about again after a second, by its ETag. */
export class HttpTransport implements Transport {
  readonly told = false;
  private readonly base: string;

  constructor(private readonly options: HttpOptions) {
    this.base = options.http.replace(/\/+$/, '');
  }

  onChange(): void {
    // Nothing is told.
  }

  async ask(question: Question, tag: string | null): Promise<Fresh> {
    const headers = { ...readerHeaders(question.reader), ...(tag === null ? {} : { 'if-none-match': tag }) };
    const response = await this.fetch(pathOf(question), { headers, signal: AbortSignal.timeout(READ_MS) });
    if (response.status === NOT_MODIFIED) return { same: true };
    return { same: false, answer: await jsonOf<AnyAnswer>(response), tag: response.headers.get('etag') };
  }

  async settle({ session_id: session, ...body }: SettleRequest): Promise<SettleAnswer> {
    const timeout_s = body.timeout_s == null ? body.timeout_s : Math.min(body.timeout_s, LONGEST_SETTLE_S);
    const response = await this.fetch(`/v1/sessions/${encodeURIComponent(session)}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, timeout_s }),
      signal: AbortSignal.timeout((LONGEST_SETTLE_S + READ_MS / MS_PER_S) * MS_PER_S),
    });
    return jsonOf<SettleAnswer>(response);
  }

  async connected(): Promise<void> {
    await jsonOf(await this.fetch('/healthz', { signal: AbortSignal.timeout(READ_MS) }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private async fetch(path: string, init: RequestInit): Promise<Response> {
    const { key } = this.options;
    const headers = { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
    try {
      return await fetch(`${this.base}${path}`, {
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string>) },
      });
    } catch (error) {
      throw nobody(error, `the gateway at ${this.base} does not answer`);
    }
  }
}

function pathOf({ tool, input }: Question): string {
  const fields = input as { scope?: string | null; query?: string; limit?: number | null; rule_id?: string };
  switch (tool) {
    case 'list':
      return '/v1/rules';
    case 'read':
      return `/v1/rules/scopes/${encodeURIComponent(fields.scope ?? DEFAULT_SCOPE)}`;
    case 'search':
      return `/v1/rules?${searchText(fields.query ?? '', fields.limit ?? undefined)}`;
    case 'status':
      return `/v1/rules/ids/${encodeURIComponent(fields.rule_id ?? '')}`;
  }
}

function searchText(query: string, limit: number | undefined): string {
  return new URLSearchParams({ q: query, ...(limit === undefined ? {} : { limit: String(limit) }) }).toString();
}

/** A header is bytes: the UTF-8 of an id, as Latin-1, which is how `fetch` takes bytes. */
function readerHeaders({ session, turn }: ReadFor): Record<string, string> {
  return {
    ...(session === undefined ? {} : { 'fleetmend-session': Buffer.from(session, 'utf8').toString('latin1') }),
    ...(turn === undefined ? {} : { 'fleetmend-turn': String(turn) }),
  };
}

async function jsonOf<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  if (response.ok)
    throw new FleetmendError('unavailable', 'the gateway answered with something that is no JSON', { status: response.status });
  const { detail } = (body ?? {}) as Partial<Problem>;
  throw errorOf(response.status, detail ?? `the gateway answered with status ${response.status}`);
}
