import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readRecordings, sizeOf, type Read, type ReadOptions } from './read-recordings.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'fleetmend-read-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function read(name: string, text: string, options: ReadOptions = {}): Promise<Read[]> {
  const file = join(dir, name);
  await writeFile(file, text);
  const found: Read[] = [];
  for await (const one of readRecordings(file, options)) found.push(one);
  return found;
}

const shown = (one: Read): string =>
  `${one.origin.line ?? '-'} ${one.kind} ${one.kind === 'rejected' ? one.reason : one.data.toString()}`;

const turn = '{"session_id":"s","turn_index":0,"traces":[]}';
const tau = JSON.stringify({
  task_id: 3,
  trial: 1,
  reward: 1,
  traj: [
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'hi' },
    { role: 'user', content: 'and?' },
    { role: 'assistant', content: 'bye' },
  ],
});
const swe = { trajectory: [{ thought: 't', action: 'ls', observation: 'o' }], info: { exit_status: 'submitted' } };

describe('JSONL', () => {
  it('gives every turn with its line, as its own bytes', async () => {
    const big = '{"session_id":"s","turn_index":1,"id":12345678901234567890}';
    expect((await read('a.jsonl', `${turn}\n\n${big}`)).map(shown)).toEqual([`1 turn ${turn}`, `3 turn ${big}`]);
  });

  it('names a bad line with what is wrong, and goes on', async () => {
    const found = (await read('b.jsonl', `nonsense\n{"a":1}\n[]\n${turn}\n`)).map(shown);
    expect(found[0]).toMatch(/^1 rejected Not readable as JSON/);
    expect(found[1]).toMatch(/^2 rejected neither a turn/);
    expect(found[2]).toMatch(/^3 rejected neither a turn/);
    expect(found[3]).toBe(`4 turn ${turn}`);
  });

  it('leaves a turn with a fault to the gateway, which says best what is wrong', async () => {
    expect((await read('c.jsonl', '{"turn_index":0}')).map(({ kind }) => kind)).toEqual(['turn']);
  });

  it('is told by its first line, whatever the file is called', async () => {
    expect((await read('d.txt', `${turn}\n${turn}`)).map(({ origin }) => origin.line)).toEqual([1, 2]);
  });

  it('may be empty', async () => {
    expect(await read('e.json', '')).toEqual([]);
  });
});

describe('a tau-bench row', () => {
  it('becomes turns, and its reward a score of the last one when asked for', async () => {
    const kinds = async (options: ReadOptions): Promise<string[]> =>
      (await read('t.jsonl', tau, options)).map(({ kind }) => kind);
    expect(await kinds({})).toEqual(['turn', 'turn']);
    expect(await kinds({ withRewards: true })).toEqual(['turn', 'turn', 'score']);
    const score = (await read('t.jsonl', tau, { withRewards: true, domain: 'airline' }))[2];
    expect(score !== undefined && score.kind === 'score' ? JSON.parse(score.data.toString()) : score).toMatchObject({
      session_id: 'tau-airline-3-1',
      turn_index: 1,
      scores: [{ metric: 'outcome_correct', value: 1 }],
    });
  });

  it('may stand in a JSON list', async () => {
    expect((await read('t.json', `[\n${tau},\n${tau}\n]`)).map(({ origin }) => origin.line)).toEqual([null, null, null, null]);
  });
});

describe('a SWE-agent trajectory', () => {
  it('becomes turns of a session named after the file, on one line or on many', async () => {
    for (const text of [JSON.stringify(swe), JSON.stringify(swe, null, 2)]) {
      const [one] = await read('demo.traj', text);
      expect(one?.kind === 'turn' ? one.session : one).toBe('swe-demo');
    }
  });
});

it('a file that is neither says so once', async () => {
  expect((await read('x.json', '{\n"a": \n')).map(shown)).toEqual([
    expect.stringMatching(/^- rejected neither one JSON value nor JSONL/),
  ]);
});

it('a missing file is looked for before anything is read', async () => {
  await expect(sizeOf([join(dir, 'nope')])).rejects.toMatchObject({ exitCode: 3 });
  await expect(sizeOf([dir])).rejects.toMatchObject({ exitCode: 2 });
});
