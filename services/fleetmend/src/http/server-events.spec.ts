import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { serverEvents, type ServerEvent } from './server-events.js';

async function read(...chunks: string[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(Readable.from(chunks.map((one) => Buffer.from(one))))) events.push(event);
  return events;
}

describe('server-sent events', () => {
  it('have a type, an id and data of several lines', async () => {
    expect(await read('retry: 2000\n\nevent: notice.posted\nid: n-1\ndata: {"a":\ndata: 1}\n\n')).toEqual([
      { type: 'notice.posted', id: 'n-1', data: '{"a":\n1}' },
    ]);
  });

  it('are the same however the bytes come', async () => {
    const text = ': nothing new\n\nevent: x\r\ndata: ä\r\n\r\n';
    expect(await read(...Array.from(text))).toEqual([{ type: 'x', id: undefined, data: 'ä' }]);
  });

  it('that the end cuts off are not given', async () => {
    expect(await read('event: x\ndata: 1\n')).toEqual([]);
  });
});
