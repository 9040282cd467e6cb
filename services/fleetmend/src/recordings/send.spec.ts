import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gateway } from '../http/gateway.js';
import { Sender } from './send.js';

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

type Answer = (items: string[], asked: number) => { status: number; body?: unknown; headers?: Record<string, string> };

/** A gateway that answers as told; what it was sent is in `seen`. */
async function gateway(answer: Answer): Promise<{ sender: (retryMs?: number) => Sender; seen: string[][] }> {
  const seen: string[][] = [];
  server = createServer((request, response) => void reply(request, response, answer, seen));
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { seen, sender: (retryMs = 5_000) => new Sender(new Gateway({ url, key: undefined }), retryMs) };
}

async function reply(request: IncomingMessage, response: ServerResponse, answer: Answer, seen: string[][]): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const items = JSON.parse(Buffer.concat(chunks).toString()) as string[];
  seen.push(items);
  const { status, body, headers = {} } = answer(items, seen.length);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? {}));
}

const accepted = (items: string[], refused: Record<string, { status: number; detail: string }> = {}): unknown => ({
  results: items.map((item, index) =>
    refused[item] === undefined ? { index, status: 'accepted' } : { index, status: 'rejected', error: refused[item] },
  ),
});
const buffers = (...items: string[]): Buffer[] => items.map((item) => Buffer.from(JSON.stringify(item)));

describe('sending', () => {
  it('says for each item why it was rejected; the others are stored', async () => {
    const { sender } = await gateway((items) => ({ status: 202, body: accepted(items, { b: { status: 422, detail: 'bad' } }) }));
    expect(await sender().send('/v1/turns', buffers('a', 'b', 'c'))).toEqual([null, 'bad', null]);
  });

  it('sends again only what is not stored yet, when it was told to wait', async () => {
    const { sender, seen } = await gateway((items, asked) =>
      asked === 1
        ? { status: 503, body: { detail: 'full', ...(accepted(items, { b: { status: 503, detail: 'full' } }) as object) } }
        : { status: 202, body: accepted(items) },
    );
    expect(await sender().send('/v1/turns', buffers('a', 'b'))).toEqual([null, null]);
    expect(seen).toEqual([['a', 'b'], ['b']]);
  });

  it('waits as long as Retry-After says', async () => {
    const { sender } = await gateway((items, asked) =>
      asked === 1 ? { status: 503, headers: { 'retry-after': '1' } } : { status: 202, body: accepted(items) },
    );
    const begun = performance.now();
    await sender().send('/v1/turns', buffers('a'));
    expect(performance.now() - begun).toBeGreaterThan(950);
  });

  it('finds the item that is too large, and lets the others through', async () => {
    const { sender } = await gateway((items) =>
      items.includes('huge') ? { status: 413, body: { detail: 'too large' } } : { status: 202, body: accepted(items) },
    );
    expect(await sender().send('/v1/turns', buffers('a', 'huge', 'b', 'c'))).toEqual([null, 'too large', null, null]);
  });

  it('gives up with exit code 5 after the time it was given', async () => {
    const { sender } = await gateway(() => ({ status: 503 }));
    await expect(sender(300).send('/v1/turns', buffers('a'))).rejects.toMatchObject({ exitCode: 5 });
  });

  it('does not try again with a key that does not do', async () => {
    const { sender, seen } = await gateway(() => ({ status: 401, body: { detail: 'no key' } }));
    await expect(sender().send('/v1/turns', buffers('a'))).rejects.toMatchObject({ exitCode: 4 });
    expect(seen).toHaveLength(1);
  });
});
