import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Trouble } from './trouble.js';
import { callWebhook, type WebhookOptions } from './webhook.js';

let server: Server;
let host: string;
let seen: { method: string | undefined; url: string | undefined; body: string }[];
let respond: (response: ServerResponse) => void;

beforeEach(async () => {
  seen = [];
  respond = (response) => response.end('{"value":1}');
  server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({ method: request.method, url: request.url, body });
      respond(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const call = (options: Partial<WebhookOptions> = {}, url = `http://${host}/score`): Promise<unknown> =>
  callWebhook(
    url,
    { metric: 'style' },
    { allowedHosts: [host], timeoutMs: 5_000, signal: new AbortController().signal, ...options },
  );
const endingOf = async (options: Partial<WebhookOptions> = {}): Promise<Trouble['ending']> => {
  const error: unknown = await call(options).catch((thrown: unknown) => thrown);
  if (!(error instanceof Trouble)) throw new Error(`expected trouble, got ${JSON.stringify(error)}`);
  return error.ending;
};

describe('a webhook', () => {
  it('is posted JSON, and gives the JSON of its answer', async () => {
    respond = (response) => response.end('{"value":0.5,"reason":"fair"}');
    expect(await call()).toEqual({ value: 0.5, reason: 'fair' });
    expect(seen).toEqual([{ method: 'POST', url: '/score', body: '{"metric":"style"}' }]);
  });

  it.each([
    ['nobody', []],
    ['another host', ['example.com']],
    ['another port', ['127.0.0.1:1']],
    ['a host that only begins so', ['127.0.0']],
  ])('is not called where only %s may be', async (_, allowedHosts) => {
    expect(await endingOf({ allowedHosts })).toMatchObject({
      kind: 'blocked',
      code: 'config',
      error: expect.stringContaining(host),
    });
    expect(seen).toEqual([]);
  });

  it('may be named without its port, in capitals, or with a user before the host', async () => {
    expect(await call({ allowedHosts: ['127.0.0.1'] })).toEqual({ value: 1 });
    expect(await call({ allowedHosts: ['LOCALHOST'] }, `http://localhost:${host.split(':')[1]}/`)).toEqual({ value: 1 });
    await expect(call({ allowedHosts: ['127.0.0.1'] }, `http://127.0.0.1@example.invalid/`)).rejects.toThrow(
      'may not call example.invalid',
    );
  });

  it('is not followed where it points: the host that was allowed is the host that is called', async () => {
    respond = (response) => response.writeHead(302, { location: `http://${host}/elsewhere` }).end();
    expect(await endingOf()).toMatchObject({ kind: 'blocked', error: expect.stringContaining(`http://${host}/elsewhere`) });
    expect(seen).toHaveLength(1);
  });

  it.each([401, 403, 404, 405, 410])('that answers %d waits for a person', async (code) => {
    respond = (response) => response.writeHead(code).end('go away');
    expect(await endingOf()).toMatchObject({ kind: 'blocked', code: 'config', error: `the webhook answered ${code}: go away` });
  });

  it.each([400, 413, 422])('that answers %d refuses this one question', async (code) => {
    respond = (response) => response.writeHead(code).end('odd trace');
    expect(await call()).toEqual({ error: `the webhook answered ${code}: odd trace` });
  });

  it.each([
    [500, {}, 5_000],
    [503, { 'retry-after': '20' }, 20_000],
    [429, { 'retry-after': '1' }, 1_000],
    [408, { 'retry-after': 'soon' }, 5_000],
    [503, { 'retry-after': '99999999' }, 3_600_000],
  ])('that answers %d with %j rests', async (code, headers, delayMs) => {
    respond = (response) => response.writeHead(code, headers).end();
    expect(await endingOf()).toMatchObject({ kind: 'rest', code: 'unavailable', delayMs });
  });

  it('that does not answer in time fails this job only', async () => {
    respond = () => undefined;
    expect(await endingOf({ timeoutMs: 30 })).toMatchObject({
      kind: 'failed',
      error: `the webhook ${host} did not answer within 30 ms`,
    });
  });

  it('that does not come to an end in time fails this job only', async () => {
    respond = (response) => response.writeHead(200).write('{"value":');
    expect(await endingOf({ timeoutMs: 100 })).toMatchObject({ kind: 'failed' });
  });

  it('that breaks off, or is not there, rests', async () => {
    respond = (response) => response.destroy();
    expect(await endingOf()).toMatchObject({ kind: 'rest', code: 'unavailable' });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await endingOf()).toMatchObject({ kind: 'rest', error: expect.stringContaining('ECONNREFUSED') });
  });

  it('that sends without end is not read to the end', async () => {
    let sent = 0;
    respond = (response) => {
      const more = (): void => {
        while (!response.destroyed && sent < 50_000_000 && response.write('x'.repeat(16_384))) sent += 16_384;
        if (sent >= 50_000_000) response.end();
      };
      response.on('drain', more);
      more();
    };
    expect(await endingOf()).toMatchObject({ kind: 'blocked', error: expect.stringContaining('65536 bytes') });
    expect(sent).toBeLessThan(50_000_000);
  });

  it('that is long about a failure is cut, not taken for a wrong answer', async () => {
    respond = (response) => response.writeHead(500).end('x'.repeat(1_000_000));
    expect(await endingOf()).toMatchObject({ kind: 'rest', error: `the webhook answered 500: ${'x'.repeat(200)}` });
  });

  it('that answers no JSON gives its text', async () => {
    respond = (response) => response.end('<html>');
    expect(await call()).toBe('<html>');
  });

  it('is let go when the process stops, whether it has begun to answer or not', async () => {
    for (const begin of [() => undefined, (response: ServerResponse) => void response.writeHead(200).write('{')]) {
      const abort = new AbortController();
      respond = (response) => {
        begin(response);
        setTimeout(() => abort.abort(), 20);
      };
      expect(await endingOf({ signal: abort.signal })).toEqual({ kind: 'returned' });
    }
  });
});
