import { describe, expect, it } from '@jest/globals';
import { answer, stream } from './replies.js';
import { modelServer } from './server.js';

async function post(url: string, body: unknown = {}): Promise<Response> {
  return fetch(`${url}/chat/completions`, { method: 'POST', body: JSON.stringify(body) });
}

describe('the scripted model server', () => {
  it('answers in the order of its script, then says that it is at its end', async () => {
    const server = await modelServer([answer('one'), answer('two')]);
    try {
      const statuses = [await post(server.url), await post(server.url), await post(server.url)].map((reply) => reply.status);
      expect(statuses).toEqual([200, 200, 500]);
      expect(server.requests.map((request) => request.path)).toEqual(Array(3).fill('/chat/completions'));
    } finally {
      await server.close();
    }
  });

  it('streams a text in pieces that make it whole', async () => {
    const server = await modelServer([stream('Hello, wide world'), stream('Hello, wide world', { cutAfter: 1 })]);
    try {
      const events = (await (await post(server.url)).text()).split('\n\n').filter((line) => line.startsWith('data: {'));
      const deltas = events.map((line) => JSON.parse(line.slice(6)) as { choices: { delta: { content?: string } }[] });
      expect(deltas.map((event) => event.choices[0]?.delta.content ?? '').join('')).toBe('Hello, wide world');
      await expect(post(server.url).then((reply) => reply.text())).rejects.toThrow();
    } finally {
      await server.close();
    }
  });

  it('answers 500 when its script throws', async () => {
    const server = await modelServer(() => {
      throw new Error('no such turn');
    });
    try {
      expect(await (await post(server.url)).text()).toContain('no such turn');
    } finally {
      await server.close();
    }
  });
});
