import { APIError, OpenAI } from 'openai';
import { explain, ModelError } from './model-error.js';
import type { EndpointOptions } from './requests.js';

export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A reply longer than this is not a model's: 100 embeddings of 3072 numbers take some 7 MB. */
const REPLY_MAX_BYTES = 32 * 1024 * 1024;

/** Statuses that may not have a body. */
const BODILESS = [101, 204, 205, 304];

class StatusError extends APIError {
  constructor(readonly reply: HttpReply) {
    super(reply.status, undefined, reply.text, reply.headers);
  }
}

/**
 * The openai client, made to answer with what the endpoint sent: its own retries are off, and of an error it keeps the whole
 * body, where the original drops what is not under `error`.
 */
export class HttpClient extends OpenAI {
  /** @throws ModelError `config` when no request could ever be sent with these options */
  constructor(options: EndpointOptions) {
    const headers = checked(options);
    super({
      baseURL: options.baseUrl,
      // It refuses to start without a key, which servers of one's own do not have; the headers set below decide.
      apiKey: 'none',
      // Explicit nulls, because it reads the environment for what is undefined.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      timeout: options.timeoutMs,
      maxRetries: 0,
      logLevel: 'off',
      fetch: fetchWhole,
    });
    // Set afterwards, because it also adds OPENAI_CUSTOM_HEADERS of the environment to those it is given.
    this._options.defaultHeaders = headers;
  }

  /**
   * The endpoint's reply, whatever its status.
   * @throws what the connection died of, or the signal's AbortError
   */
  async send(path: string, body: object, signal: AbortSignal): Promise<HttpReply> {
    try {
      const response = await this.post(path, { body, signal }).asResponse();
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      if (error instanceof StatusError) return error.reply;
      throw error;
    }
  }

  protected override makeStatusError(status: number, body: unknown, text: string | undefined, headers: Headers): APIError {
    return new StatusError({ status, headers, text: text ?? JSON.stringify(body) });
  }
}

/** The headers to send; looked at here, because fetch quotes a bad one, or an address with a password, in its error. */
function checked({ baseUrl, apiKey, headers }: EndpointOptions): Record<string, string | null> {
  if (!URL.canParse(baseUrl)) throw unusable('base_url is not a URL');
  const { username, password } = new URL(baseUrl);
  if (username !== '' || password !== '') throw unusable('base_url holds a user or a password: give a key or headers instead');
  const key = apiKey?.trim() ?? '';
  const all = { Authorization: key === '' ? null : `Bearer ${key}`, ...headers };
  for (const [name, value] of Object.entries(all)) {
    if (value !== null && !/^[\x20-\x7e]*$/.test(value)) {
      throw unusable(`header ${name} holds characters that cannot be sent`);
    }
  }
  return all;
}

function unusable(detail: string): ModelError {
  return new ModelError('config', explain('config', detail));
}

/** Reads the body before handing the reply on, so that time-out and cancellation hold to its last byte. */
async function fetchWhole(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const { status, statusText, headers } = response;
  if (BODILESS.includes(status)) return response;
  return new Response(await bodyOf(response), { status, statusText, headers });
}

async function bodyOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > REPLY_MAX_BYTES) throw new Error(`the reply is longer than ${REPLY_MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
