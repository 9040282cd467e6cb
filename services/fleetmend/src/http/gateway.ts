import { commandLineEnvironment, loadSettings } from '#config';
import type { Problem } from '#contracts';
import { CommandError, exitCodes, type ExitCode } from '../exit-codes.js';
import { readRunFile } from '../run-file.js';

export interface GatewayOptions {
  readonly url?: string;
  readonly key?: string;
}

export interface GatewayAddress {
  readonly url: string;
  readonly key: string | undefined;
}

const DEFAULT_URL = 'http://127.0.0.1:4320';

/** `--url`, FLEETMEND_URL, a running `fleetmend up`, the default port; `--key`, FLEETMEND_KEY. */
export async function findGateway({ url, key }: GatewayOptions): Promise<GatewayAddress> {
  const environment = commandLineEnvironment();
  const given = url ?? environment.url;
  const found = given ?? (await readRunFile(loadSettings().process.data_dir))?.url ?? DEFAULT_URL;
  if (!URL.canParse(found) || !/^https?:/.test(found))
    throw new CommandError(exitCodes.usage, `"${found}" is no URL such as ${DEFAULT_URL}: correct --url or FLEETMEND_URL`);
  return { url: found.replace(/\/+$/, ''), key: key ?? environment.key };
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** An answer as it came; `body` is undefined when it is not JSON. */
export interface RawAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfterS: number | undefined;
}

/** Speaks with the gateway. */
export class Gateway {
  constructor(readonly address: GatewayAddress) {}

  /** The JSON of a good answer. @throws CommandError for any other, and when nobody answers */
  async get<T>(path: string, query: Query = {}): Promise<T> {
    return this.call<T>('GET', `${path}${queryText(query)}`);
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.raw(method, path, body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
    if (answer.status < 400) return answer.body as T;
    throw problemError(answer);
  }

  /** Any answer, bad ones too. @throws CommandError 5 when nobody answers */
  async raw(method: string, path: string, body?: Buffer, type = 'application/json'): Promise<RawAnswer> {
    const headers = { ...this.headers(), ...(body === undefined ? {} : { 'content-type': type }) };
    const response = await this.fetch(path, { method, headers, ...(body === undefined ? {} : { body: new Uint8Array(body) }) });
    const text = await response.text().catch((error: unknown) => Promise.reject(this.unreachable(error)));
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return { status: response.status, body: jsonOf(text), retryAfterS: Number.isFinite(retryAfter) ? retryAfter : undefined };
  }

  /** A stream of bytes. @throws CommandError as `call` does */
  async open(path: string, headers: Readonly<Record<string, string>>): Promise<AsyncIterable<Uint8Array>> {
    const response = await this.fetch(path, { headers: { ...this.headers(), ...headers } });
    if (response.ok && response.body !== null) return response.body;
    throw problemError({ status: response.status, body: jsonOf(await response.text()) });
  }

  private headers(): Record<string, string> {
    const { key } = this.address;
    return { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) };
  }

  private async fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.address.url}${path}`, init);
    } catch (error) {
      throw this.unreachable(error);
    }
  }

  private unreachable(error: unknown): CommandError {
    const { cause } = error as { cause?: { code?: string; message?: string } };
    const reason = cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
    return new CommandError(
      exitCodes.unreachable,
      `the gateway at ${this.address.url} does not answer (${reason}): start it with \`fleetmend up\`, or say where it is with --url or FLEETMEND_URL`,
      { cause: error },
    );
  }
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  return new Gateway(await findGateway(options));
}

export function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** What the gateway refused, in its own words. */
export function problemError({ status, body }: Pick<RawAnswer, 'status' | 'body'>): CommandError {
  const { detail, title, errors } = (body ?? {}) as Partial<Problem>;
  const fields = (errors ?? []).map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const text = detail ?? title ?? `it answered with status ${status}`;
  const more = fields.filter((field) => !text.includes(field));
  const advice = status === 401 ? ' Give it with --key or FLEETMEND_KEY.' : '';
  return new CommandError(exitCodeOfStatus(status), `${[text, ...more].join('\n  ')}${advice}`);
}

export function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.notAllowed;
  if (status === 404) return exitCodes.notFound;
  return status >= 500 ? exitCodes.unreachable : exitCodes.usage;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
