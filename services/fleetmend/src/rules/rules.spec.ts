import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EpisodeDetail, RuleRecord, SettleAnswer } from '#contracts';
import { explainError } from '../explain-error.js';
import { createProgram } from '../program.js';

const record = (id: string, more: Partial<RuleRecord> = {}): RuleRecord => ({
  ...{
    id,
    rule: `Advice of ${id}.`,
    rationale: 'it helped',
    metric: null,
    tags: ['a', 'b'],
    scope: 'global',
    scope_rationale: null,
  },
  ...{
    applicability: null,
    failure_signatures: [],
    source_notices: [],
    episode_id: 'e-1',
    edited_from: null,
    author: 'repair',
    model: null,
  },
  ...{ status: 'active' as const, hold: null, held_until: null, withdrawn_at: null, created_at: 1_790_000_000_000_000 },
  ...{ changed_at: 1, promoted_at: 2, retired_at: null, retired_reason: null, version: 1, exposures: 7 },
  ...more,
});
const inventory = [
  record('r-1'),
  record('r-2', { scope: 'payments' }),
  record('r-3', { scope: 'payments', status: 'candidate', promoted_at: null }),
  record('r-4', { scope: 'refunds', withdrawn_at: 5 }),
  record('r-5', { scope: 'old', status: 'retired', retired_at: 9, retired_reason: 'wrong' }),
  record('r-6', { scope: '../../evil' }),
];
const episode: EpisodeDetail = {
  ...{
    id: 'e-1',
    session_id: 's',
    turn_index: 3,
    incident_id: 'i-1',
    notice_ids: ['n-1'],
    status: 'open',
    attempt: 1,
    recommended_scope: null,
  },
  ...{ opened_at: 1, settled_at: null, outcome: null },
  work: { state: 'blocked', waits_for: 'operator', runs: 1, failures: 5, next_run_at: null, last_error: 'turn_limit' },
  runs: [
    { run: 1, started_at: 1_790_000_000_000_000, ended_at: 1_790_000_001_000_000, model: 'm', status: 'failed', result: null },
  ],
};
const settled: SettleAnswer = {
  ...{ session_id: 's', turn_index: 3, report: null, repair: null, timed_out: true, skipped: null, waiting: 'report' },
};

/** What the gateway answers, by method and path without query. */
const answers: Readonly<Record<string, unknown>> = {
  'GET /v1/rules/inventory': { items: inventory, next_cursor: null },
  'GET /v1/rules/inventory/r-1': inventory[0],
  'GET /v1/candidates': { items: [inventory[2]], next_cursor: null },
  'GET /v1/rules': {
    ...{ version: 3, note: null, rules: [{ id: 'r-2', scope: 'payments', score: 2, snippet: 'Advice' }], provisional: null },
    scopes: [{ scope: 'payments', description: 'Everything about money.', active: 1, candidates: 1 }],
  },
  'GET /v1/rules/scopes/payments': {
    ...{ version: 3, scope: 'payments', description: 'Everything about money.', note: null, provisional: null },
    rules: [{ id: 'r-2', rule: 'Advice of r-2.', rationale: '', source: null }],
  },
  'POST /v1/rules/ids/r-1/retire': record('r-1', { status: 'retired', retired_at: 3, retired_reason: 'wrong' }),
  'POST /v1/rules/ids/r-1/withdraw': record('r-1', { withdrawn_at: 4 }),
  'POST /v1/rules/ids/r-3/approve': inventory[2],
  'POST /v1/rules/ids/r-1/edit': record('r-9', { edited_from: 'r-1', status: 'candidate' }),
  'POST /v1/rules/withdraw': { version: 8, rule_ids: ['r-2', 'r-3'] },
  'POST /v1/rules/restore': { version: 9, rule_ids: [] },
  'GET /v1/episodes/e-1': episode,
  'POST /v1/episodes/e-1/retry': { ...episode, work: { ...episode.work, state: 'waiting', waits_for: null } },
  'POST /v1/sessions/s/settle': settled,
};

let server: Server;
const asked: { readonly what: string; readonly query: string; readonly body: unknown }[] = [];
const dir = mkdtempSync(join(tmpdir(), `fleetmend-test-${process.pid}-rules-`));

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://x');
      const what = `${request.method ?? ''} ${pathname}`;
      asked.push({ what, query: search, body: text === '' ? undefined : JSON.parse(text) });
      const known = answers[what];
      response.writeHead(known === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(known ?? { title: 'Not found', detail: `no ${pathname}`, status: 404, type: 'x' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(() => {
  jest.restoreAllMocks();
  asked.length = 0;
});

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err, code] = ['', '', 0];
  jest.spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
    out += text;
    done?.();
    return true;
  }) as typeof process.stdout.write);
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((err += String(text))));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await createProgram('0', (ended) => (code = ended)).parseAsync([...args, '--url', url], { from: 'user' });
    return { code, out, err };
  } catch (error) {
    const { exitCode, message } = explainError(error);
    return { code: exitCode, out, err: err + (message ?? '') };
  }
}
const pretty = async (...args: string[]): Promise<string> => (await run(...args, '--format', 'pretty')).out;

describe('reading rules', () => {
  it('lists them as JSON, and as a table that says what is held back', async () => {
    const { out } = await run('rules', 'list', '--status', 'active', '--withdrawn', 'true', '--limit', '5');
    expect((JSON.parse(out) as { items: unknown[] }).items).toEqual(inventory);
    expect(new URLSearchParams(asked[0]?.query).toString()).toBe('status=active&withdrawn=true&limit=5');
    expect(await pretty('rules', 'list')).toMatch(/^r-4 +active, withdrawn +refunds .* 7 +Advice of r-4\.$/m);
    expect(await pretty('candidates', '--held', 'false')).toMatch(/^r-3 +candidate +payments/m);
  });
  it('shows one whole', async () => {
    expect(JSON.parse((await run('rules', 'show', 'r-1')).out)).toEqual(inventory[0]);
    const text = await pretty('candidates', 'show', 'r-1');
    expect(text).toMatch(/^tags +a, b$/m);
    expect(text).not.toContain('metric');
    expect(await run('rules', 'show', 'r-none')).toMatchObject({ code: 3, err: 'no /v1/rules/inventory/r-none' });
  });
  it('reads and searches as an agent does', async () => {
    expect(await pretty('rules', 'read', 'payments')).toBe('payments: Everything about money.\nr-2: Advice of r-2.\n');
    expect(await pretty('rules', 'search', 'money back', '--limit', '3')).toMatch(/^r-2 +payments +2 +Advice$/m);
    expect(asked.at(-1)?.query).toBe('?q=money%20back&limit=3');
  });
});

describe('deciding about rules', () => {
  it.each<[string[], string, unknown]>([
    [['retire', 'r-1', '--reason', 'wrong'], '/v1/rules/ids/r-1/retire', { reason: 'wrong' }],
    [['withdraw', 'r-1'], '/v1/rules/ids/r-1/withdraw', {}],
    [['approve', 'r-3', '--reason', 'fine'], '/v1/rules/ids/r-3/approve', { reason: 'fine' }],
    [['withdraw', '--scope', 'payments', '--reason', 'prices'], '/v1/rules/withdraw', { scope: 'payments', reason: 'prices' }],
    [['restore', '--all'], '/v1/rules/restore', { all: true }],
    [
      ['edit', 'r-1', '--rule', 'Better.', '--metric', '', '--tags', 'x, y'],
      '/v1/rules/ids/r-1/edit',
      { rule: 'Better.', metric: null, tags: ['x', 'y'] },
    ],
  ])('rules %j asks the gateway', async (args, path, body) => {
    expect(await run('rules', ...args)).toMatchObject({ code: 0, out: `${JSON.stringify(answers[`POST ${path}`])}\n` });
    expect(asked).toEqual([{ what: `POST ${path}`, query: '', body }]);
  });
  it('wants to be told what to withdraw', async () => {
    for (const args of [[], ['r-1', '--all'], ['--scope', 'a', '--all']])
      expect(await run('rules', 'withdraw', ...args)).toMatchObject({ code: 2, out: '' });
    expect(asked).toEqual([]);
  });
});

describe('rules export', () => {
  it('writes what a reader without a session sees, empties what is gone, and leaves other files alone', async () => {
    mkdirSync(join(dir, 'rules'));
    writeFileSync(join(dir, 'rules/old.md'), '# Rules: old\n\nIt was said here.\n');
    writeFileSync(join(dir, 'rules/mine.md'), '# My own notes\n');
    const { code, out } = await run('rules', 'export', dir);
    expect({ code, answer: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      answer: { dir, files: ['rules.md', 'rules/global.md', 'rules/old.md', 'rules/payments.md'] },
    });
    const written = (path: string): string => readFileSync(join(dir, path), 'utf8');
    expect(written('rules.md')).toContain(
      '[rules/payments.md](rules/payments.md): Everything about money. (1 active, 1 provisional)',
    );
    expect(written('rules.md')).not.toContain('Advice of');
    expect(written('rules/payments.md')).toContain('- **r-2**: Advice of r-2.');
    expect(written('rules/payments.md')).not.toContain('r-3');
    expect(written('rules/old.md')).toContain('No rules here.');
    expect(written('rules/mine.md')).toBe('# My own notes\n');
    expect(existsSync(join(dir, '..', 'evil.md'))).toBe(false);
    expect(await pretty('rules', 'export', dir)).toBe(`4 files written to ${dir}\n`);
  });
});

describe('episodes and settle', () => {
  it('an episode says what it waits for, and is let go on', async () => {
    const text = await pretty('episodes', 'show', 'e-1');
    expect(text).toContain('e-1, open; it waits for operator\nsession s, turn 3, notices n-1\n');
    expect(text).toMatch(/^ *1 +2026-09-21 14:13:20 +2026-09-21 14:13:21 +failed +m/m);
    expect((JSON.parse((await run('episodes', 'retry', 'e-1')).out) as EpisodeDetail).work?.state).toBe('waiting');
    expect((await run('episodes', 'retry', 'e-none')).code).toBe(3);
  });
  it('a turn that is not settled in time is a finding', async () => {
    expect(await run('settle', 's', '--turn', '3', '--timeout', '5')).toEqual({
      code: 1,
      out: `${JSON.stringify(settled)}\n`,
      err: '',
    });
    expect(asked).toEqual([{ what: 'POST /v1/sessions/s/settle', query: '', body: { turn_index: 3, timeout_s: 5 } }]);
    expect(await pretty('settle', 's')).toBe('s turn 3 is not settled: the time is over (waiting for report)\n');
  });
});
