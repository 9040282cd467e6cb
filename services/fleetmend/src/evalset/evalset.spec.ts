import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { explainError } from '../explain-error.js';
import { createProgram } from '../program.js';

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

const summary = {
  id: 'c-1',
  created_at: 1_790_000_000_000_000,
  session_id: 's',
  kind: 'failure',
  signature: ['breach:x'],
  baseline: { x: 0.5 },
};
const shown = { ...summary, replayable: false, notes: 'n', notice_id: null };

describe('the eval set on the command line', () => {
  let server: Server;
  let url: string;
  let dir: string;
  let out: string;
  let err: string;
  let code = 0;
  const asked: Asked[] = [];
  let reply: (request: Asked) => unknown = () => ({});

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'fleetmend-cli-cases-'));
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const one = { method: request.method, url: request.url, type: request.headers['content-type'], body };
        asked.push(one);
        const answered = reply(one);
        response.setHeader('content-type', typeof answered === 'string' ? 'application/x-ndjson' : 'application/json');
        response.end(typeof answered === 'string' ? answered : JSON.stringify(answered));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    [out, err, code] = ['', '', 0];
    asked.length = 0;
    const keep = (take: (chunk: string) => void) =>
      ((chunk: string | Uint8Array, done?: () => void) => {
        take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
        done?.();
        return true;
      }) as typeof process.stdout.write;
    jest.spyOn(process.stdout, 'write').mockImplementation(keep((chunk) => (out += chunk)));
    jest.spyOn(process.stderr, 'write').mockImplementation(keep((chunk) => (err += chunk)));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  const evalset = async (...args: string[]): Promise<void> => {
    const program = createProgram('0', (finished) => (code = finished));
    try {
      await program.parseAsync(['evalset', ...args, '--url', url, '--format', 'json'], { from: 'user' });
    } catch (error) {
      const explained = explainError(error);
      code = explained.exitCode;
      err += explained.message ?? '';
    }
  };

  it('lists by its filters, with the version of the set', async () => {
    reply = () => ({ items: [shown], next_cursor: null, version: 7 });
    await evalset('list', '--kind', 'failure', '--signature', 'breach:x', '--replayable', 'false');
    expect(asked[0]?.url).toBe('/v1/evalset?kind=failure&signature=breach%3Ax&replayable=false');
    expect(JSON.parse(out)).toEqual({ items: [shown], next_cursor: null, version: 7 });
  });

  it('captures a turn, with what was said about it', async () => {
    reply = () => ({ result: 'captured', case: shown, evicted: [], version: 1 });
    await evalset('capture', 's', '3', '--kind', 'win', '--signature', 'a,b', '--notes', 'n', '--input', '{"task": 1}');
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      ...{ session_id: 's', turn_index: 3, kind: 'win', signature: ['a', 'b'], notes: 'n', replay_input: { task: 1 } },
    });
    await evalset('capture', 's', '3', '--kind', 'failure');
    expect(JSON.parse(asked[1]?.body ?? '')).toEqual({ session_id: 's', turn_index: 3, kind: 'failure' });
  });

  it('attaches an input from a file, and says what is wrong with one that is no JSON', async () => {
    reply = () => ({ ...shown, replay_input: {}, version: 2 });
    await writeFile(join(dir, 'task.json'), '{"order": 7}');
    await evalset('attach', 'c-1', `@${join(dir, 'task.json')}`);
    expect(asked).toMatchObject([{ method: 'POST', url: '/v1/evalset/c-1/input', body: '{"replay_input":{"order":7}}' }]);
    await evalset('attach', 'c-1', 'a text');
    expect([code, err]).toEqual([2, expect.stringMatching(/"?a text"? is no JSON.*quotes/)]);
  });

  it('shows and removes a case', async () => {
    reply = ({ method }) => (method === 'DELETE' ? { id: 'c-1', version: 3 } : { ...shown, replay_input: null, version: 2 });
    await evalset('show', 'c-1');
    await evalset('remove', 'c-1');
    expect(asked.map(({ method, url: path }) => `${method} ${path}`)).toEqual(['GET /v1/evalset/c-1', 'DELETE /v1/evalset/c-1']);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { version: number }).version),
    ).toEqual([2, 3]);
  });

  it('exports to a file that is whole or not there, and to standard output as it is', async () => {
    const lines = '{"session_id":"ä"}\n{"session_id":"b"}\n';
    reply = () => lines;
    const file = join(dir, 'cases.jsonl');
    await evalset('export', file);
    expect(await readFile(file, 'utf8')).toBe(lines);
    expect(JSON.parse(out)).toEqual({ file, cases: 2 });
    expect(await readdir(dir)).toEqual(['cases.jsonl']);
    out = '';
    await evalset('export', '-');
    expect(out).toBe(lines);
  });

  it('imports in parts, numbers lines as the file does, and ends with a finding when one was not taken', async () => {
    const line = (n: number): string => JSON.stringify({ session_id: `s${n}`, kind: 'failure' });
    const lines = Array.from({ length: 1_500 }, (_, n) => line(n));
    await writeFile(join(dir, 'in.jsonl'), ['', ...lines.slice(0, 1_200), '  ', ...lines.slice(1_200)].join('\n'));
    reply = ({ body }) => {
      const sent = body.trimEnd().split('\n');
      const last = sent.length;
      const results = sent.map((_, at) => ({ line: at + 1, status: 'captured', id: 'c', error: null as string | null }));
      if (last === 500) results[last - 1] = { line: last, status: 'rejected', id: '', error: 'kind: is missing' };
      const rejected = last === 500 ? 1 : 0;
      return { version: asked.length, captured: last - rejected, known: 0, refused: 0, rejected, evicted: ['e'], results };
    };
    await evalset('import', join(dir, 'in.jsonl'));
    expect(asked.map(({ type, body }) => [type, body.trimEnd().split('\n').length])).toEqual([
      ['application/x-ndjson', 1_000],
      ['application/x-ndjson', 500],
    ]);
    expect(JSON.parse(out)).toEqual({ version: 2, captured: 1_499, known: 0, refused: 0, rejected: 1, evicted: ['e', 'e'] });
    expect([code, err]).toEqual([1, 'line 1502: kind: is missing\n']);
  });

  it('says that a file is not there', async () => {
    await evalset('import', join(dir, 'none.jsonl'));
    expect(code).toBe(3);
    expect(asked).toEqual([]);
  });
});
