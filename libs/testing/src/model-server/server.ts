import { createServer, type IncomingMessage, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { embeddings, status, type Reply } from './replies.js';

export interface ModelRequest {
  /** Without the version: `/chat/completions`. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** How many requests came before this one. */
  readonly index: number;
}

/** What to answer: by looking at the request, or in order (one request more is answered with 500). */
export type Script = ((request: ModelRequest) => Reply | Promise<Reply>) | readonly Reply[];

export interface ModelServer {
  /** With the version, as a client is configured: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** The most requests that were being answered at one time. */
  readonly mostAtOnce: number;
  /** Replaces the script; requests are kept. */
  script(script: Script): void;
  close(): Promise<void>;
}

/** A server that speaks as much of the OpenAI protocol as its script does. Embeddings it can make by itself. */
export async function modelServer(initial: Script = []): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let next = nextReply(initial);
  let running = 0;
  let mostAtOnce = 0;
  const server = createServer((request, response) => {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    response.on('close', () => (running -= 1));
    void respond(request, response);
  });

  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const request = { ...(await read(incoming)), index: requests.length };
      requests.push(request);
      const reply = await next(request);
      await reply(response);
    } catch (error) {
      // A caller that hung up leaves nobody to tell.
      if (!response.headersSent) void status(500, { error: { message: `the script failed: ${String(error)}` } })(response);
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get mostAtOnce() {
      return mostAtOnce;
    },
    script: (script) => (next = nextReply(script)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(incoming: IncomingMessage): Promise<Omit<ModelRequest, 'index'>> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { path: (incoming.url ?? '').replace(/^\/v1/, '').replace(/\?.*$/, ''), headers: incoming.headers, body };
}

function nextReply(script: Script): (request: ModelRequest) => Reply | Promise<Reply> {
  if (typeof script === 'function') return script;
  const left = [...script];
  return ({ path, body }) => {
    const reply = left.shift();
    if (reply !== undefined) return reply;
    if (path === '/embeddings') return embeddings([body['input']].flat().map(String));
    return status(500, { error: { message: 'the script is at its end' } });
  };
}
