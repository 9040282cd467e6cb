import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deadLetter, deadLetterHeaders, turnEnded } from '#contracts';
import { connectNats, JetStreamPublisher } from '#messaging/jetstream';
import { eventually } from '#testing';
import { readShared, ROOT, sharedIsThere } from '../support/root.js';

jest.setTimeout(120_000);

const BIN = join(ROOT, 'bin/fleetmend.mjs');
const base = mkdtempSync(join(tmpdir(), `fleetmend-test-${process.pid}-cli-`));
// Root's Postgres runs as another user, who has to pass through.
chmodSync(base, 0o711);
afterAll(() => rmSync(base, { recursive: true, force: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it has said on standard error so far. */
  said(): string;
}

/** Ours only: what this machine has set must not decide what the tests see. */
function environment(extra: Record<string, string>): Record<string, string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('FLEETMEND_') && !['NATS_URL', 'DATABASE_URL', 'NODE_OPTIONS'].includes(name),
  );
  return { ...(Object.fromEntries(own) as Record<string, string>), FLEETMEND_HTTP_PORT: '0', ...extra };
}

function start(args: readonly string[], env: Record<string, string> = {}, input = ''): Started {
  const child = spawn(process.execPath, [BIN, ...args], { cwd: base, env: environment(env), stdio: 'pipe' });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, err })));
  return { child, ended, said: () => err };
}

const run = (args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Ended> =>
  start(args, env, input).ended;

const dataDir = (name: string): { dir: string; env: Record<string, string> } => {
  const dir = join(base, name);
  return { dir, env: { FLEETMEND_DATA_DIR: dir } };
};

/** Processes whose command line names the folder. */
function processesOf(dir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(dir));
}

async function expectNothingLeft(dir: string): Promise<void> {
  await eventually(() => processesOf(dir).length === 0, 10_000);
  expect(existsSync(join(dir, 'run.json'))).toBe(false);
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const containing = (text: string): unknown => expect.stringContaining(text);
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

type Fields = Record<string, unknown>;
/** What commands print, by the members that are looked at. */
interface Printed extends Fields {
  readonly items: Fields[];
  readonly data: Fields;
  readonly findings: Fields[];
  readonly notices: Fields[];
  readonly totals: { readonly fired: number };
  readonly turns: unknown[];
}
const json = (text: string): Printed => JSON.parse(text) as Printed;

describe('up', () => {
  const { dir, env } = dataDir('sample');

  it('plays the sample the first time, prints what it saw, and leaves nothing running', async () => {
    const { code, out, err } = await run(['up', '--exit-after-import', '--format', 'json'], env);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(err).toContain('repair_model is not set, so the repair service is left out');
    const seen = json(out);
    expect(seen).toMatchObject({ job: 'sample', accepted: 30, rejected: 0, totals: { sessions: 3, turns: 30 } });
    expect(seen.totals.fired).toBeGreaterThan(0);
    expect(seen.notices.map(({ session }) => session).sort()).toEqual(['sample-desk-recovering', 'sample-desk-stuck']);
    await expectNothingLeft(dir);
  });

  it('goes on with what is stored the second time, in words for people', async () => {
    const { code, out, err } = await run(['up', '--exit-after-import', '--format', 'pretty'], env);
    expect({ code, err }).toMatchObject({ code: 0, err: containing('continuing with 30 stored turns') });
    expect(out).toContain('3 sessions, 30 turns');
    expect(err).toMatch(/curl -s http.*\n.*fleetmend sessions .*\n.*notices watch\n.*nats --server/);
    await expectNothingLeft(dir);
  });

  it('ends with one clear line when the port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as { port: number };
    const { code, err } = await run(['up'], { ...env, FLEETMEND_HTTP_PORT: String(port) });
    taken.close();
    expect(code).toBe(1);
    expect(lines(err).at(-1)).toMatch(new RegExp(`^fleetmend: cannot listen on 127.0.0.1:${port}: another program has it`));
    await expectNothingLeft(dir);
  });

  it('refuses what it cannot use before it starts anything', async () => {
    expect(await run(['up'], { ...env, FLEETMEND_GATE_WINDO: '1' })).toMatchObject({
      code: 2,
      err: 'fleetmend: FLEETMEND_GATE_WINDO is not a setting; settings are listed in docs/generated/settings.md\n',
    });
    const missing = await run(['up', '--import', 'nope.jsonl'], env);
    expect(missing).toMatchObject({ code: 3, err: matching(/^fleetmend: nope\.jsonl cannot be read/) });
    expect(processesOf(dir)).toEqual([]);
  });

  it('says with exit code 5 that a given server does not answer', async () => {
    const { code, err } = await run(['up'], {
      ...env,
      NATS_URL: 'nats://127.0.0.1:9',
      DATABASE_URL: 'postgresql://u:secret@127.0.0.1:9/x',
    });
    expect(code).toBe(5);
    expect(lines(err).at(-1)).toMatch(/^fleetmend: NATS_URL: the server at 127\.0\.0\.1:9 cannot be used/);
    expect(err).not.toContain('secret');
  });

  it('stops in order also while it is still starting', async () => {
    const early = dataDir('early');
    const up = start(['up'], early.env);
    await eventually(() => up.said().includes('starting NATS'), 20_000);
    up.child.kill('SIGINT');
    const { code, err } = await up.ended;
    expect({ code, err }).toMatchObject({ code: 0, err: containing('stopped') });
    await expectNothingLeft(early.dir);
  });
});

describe('beside a running loop', () => {
  const { dir, env } = dataDir('running');
  let up: Started;
  let address: { url: string; nats_url: string };
  const fm = (...args: string[]): Promise<Ended> => run(args, env);

  beforeAll(async () => {
    up = start(['up', '--no-sample'], env);
    await eventually(() => up.said().includes('running; end with Ctrl-C'), 60_000);
    address = JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as typeof address;
  });

  afterAll(async () => {
    up.child.kill('SIGTERM');
    expect(await up.ended).toMatchObject({ code: 0 });
    await expectNothingLeft(dir);
  });

  it('a second one in the same folder says who is there', async () => {
    const { code, err } = await fm('up');
    expect({ code, last: lines(err).at(-1) }).toEqual({
      code: 1,
      last: containing(`another Fleetmend (process ${up.child.pid})`),
    });
  });

  it('the doctor finds nothing to mend, and nothing to migrate', async () => {
    const { code, out } = await fm('doctor');
    expect({ code, failed: json(out).findings.filter(({ status }) => status !== 'ok') }).toEqual({
      code: 0,
      failed: [],
    });
    expect(await fm('migrate', '--format', 'pretty')).toMatchObject({ code: 0, out: 'up to date\n' });
  });

  it('imports what is good of a file, names the rest, and shows the notice that follows', async () => {
    const watching = start(['notices', 'watch', '--count', '1'], env);
    await eventually(() => watching.said().includes('watching'), 20_000);
    const trace = {
      trace_id: 'w-0',
      started_at: '2026-11-30T00:00:00Z',
      input: 'question',
      output: '',
      spans: [
        {
          span_id: 'a',
          kind: 'TOOL',
          name: 'look',
          status: 'ERROR',
          error: { message: 'boom' },
          started_at: '2026-11-30T00:00:01Z',
        },
      ],
    };
    const good = { session_id: 'watched', traces: [trace], scores: [] };
    const series = Array.from({ length: 7 }, (_, turn_index) =>
      JSON.stringify({ ...good, turn_index, traces: [{ ...trace, trace_id: `w-${turn_index}` }] }),
    );
    const file = join(base, 'mixed.jsonl');
    writeFileSync(file, [...series.slice(0, 3), 'nonsense', '{"session_id":"x","turn_index":-1}', ...series.slice(3)].join('\n'));
    const { code, out, err } = await fm('turns', 'import', file);
    expect(code).toBe(1);
    expect(json(out)).toMatchObject({ read: 9, accepted: 7, rejected: 2, rejections: [{ line: 4 }, { line: 5 }] });
    expect(err).toContain(`${file}:4: `);
    const notice = json((await watching.ended).out);
    expect(notice).toMatchObject({ event: 'notice.posted', data: { session_id: 'watched' } });
    expect(json((await fm('notices', 'list', '--session', 'watched')).out).items[0]?.['id']).toBe(notice.data['id']);
    expect(json((await fm('sessions', 'watched')).out).turns).toHaveLength(7);
    expect(json((await fm('journal', '--session', 'watched')).out).items.length).toBeGreaterThan(0);
    expect(json((await fm('episodes', '--session', 'watched')).out).items).toHaveLength(1);
    expect(json((await fm('incidents')).out).items).toHaveLength(1);
    expect((await fm('sessions', 'nobody')).code).toBe(3);
  });

  it('shows which traces came over OpenTelemetry, and why one is in no turn', async () => {
    const traceId = 'ab'.repeat(16);
    const span = { traceId, spanId: 'cd'.repeat(8), name: 'lost', startTimeUnixNano: '1790000000000000000' };
    const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    const sent = await fetch(`${address.url}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(sent.status).toBe(200);
    const of = async (...args: string[]) => json((await fm('traces', ...args)).out).items.map(({ trace_id: id }) => id);
    await eventually(async () => (await of('--no-session')).includes(traceId), 15_000);
    expect(await of('--late')).toEqual([]);
    expect(await of('--session', 'somebody')).toEqual([]);
    expect(json((await fm('traces', traceId)).out)).toMatchObject({
      trace: { trace_id: traceId, session_id: null, turn: null },
      items: [{ name: 'lost', late: false, parent_span_id: null }],
    });
    expect((await fm('traces', traceId, '--late', '--format', 'pretty')).out).toContain('no spans');
    expect((await fm('traces', 'nobody')).code).toBe(3);
  });

  it('changes settings, and says which one it does not know', async () => {
    const { code, out } = await fm('settings', 'set', 'gate_window=4', 'thresholds.coherence=0.4');
    expect({ code, settings: json(out)['settings'] }).toMatchObject({
      code: 0,
      settings: { gate_window: 4, thresholds: { coherence: 0.4 } },
    });
    expect(json((await fm('settings', 'show')).out)).toMatchObject({ settings: { gate_window: 4 } });
    expect(await fm('settings', 'set', 'gate_windo=4')).toMatchObject({
      code: 2,
      err: containing('gate_windo'),
    });
  });

  it('redrives a dead letter once, and never one that was cut', async () => {
    const nats = await connectNats({ url: address.nats_url, name: 'test' });
    const publisher = new JetStreamPublisher(nats, 'test');
    const subject = turnEnded.subject('default');
    const letter = (session: string, cut: number) => ({
      id: session,
      subject: deadLetter.subject('default', 'scoring-turns'),
      data: JSON.stringify({ session_id: session, turn_index: 0 }),
      headers: {
        [deadLetterHeaders.reason]: 'planted',
        [deadLetterHeaders.subject]: subject,
        [deadLetterHeaders.cut]: String(cut),
      },
    });
    expect(await publisher.publish([letter('redriven', 0), letter('cut', 7)])).toEqual([]);
    publisher.close();
    await nats.close();
    const listed = json((await fm('dead', 'list', '--consumer', 'scoring-turns')).out);
    expect(listed).toMatchObject([
      { sequence: 1, reason: 'planted', subject, cut_bytes: 0, redriven: false },
      { sequence: 2, cut_bytes: 7 },
    ]);
    expect(json((await fm('dead', 'list', '--consumer', 'gating-scores')).out)).toEqual([]);
    const first = await fm('dead', 'redrive', '--all');
    expect(first.code).toBe(1);
    expect(json(first.out)).toMatchObject([{ outcome: 'redriven' }, { outcome: 'cut', note: containing('7 bytes') }]);
    await eventually(async () => (await fm('sessions', 'redriven')).code === 0, 15_000);
    expect(json((await fm('dead', 'redrive', '1')).out)).toMatchObject([{ outcome: 'already redriven' }]);
    expect((await fm('dead', 'redrive', '77')).code).toBe(3);
    expect((await fm('dead', 'redrive')).code).toBe(2);
  });

  it('makes keys in the database, after which the gateway wants one', async () => {
    const { out } = await fm('keys', 'create', '--name', 'reader', '--scopes', 'observe');
    const { key, id } = json(out) as unknown as { key: string; id: string };
    await eventually(async () => (await fm('sessions')).code === 4, 5_000);
    expect((await run(['sessions'], { ...env, FLEETMEND_KEY: key })).code).toBe(0);
    expect(await fm('turns', 'import', '--key', key, join(base, 'mixed.jsonl'))).toMatchObject({
      code: 4,
      err: containing('ingest'),
    });
    expect(json((await fm('keys', 'list')).out).items).toMatchObject([{ id, name: 'reader', revoked_at: null }]);
    expect(json((await fm('keys', 'revoke', id)).out)['revoked_at']).not.toBeNull();
    expect((await fm('keys', 'revoke', 'k-nope')).code).toBe(3);
  });

  it('an address where nobody answers has exit code 5', async () => {
    expect(await fm('sessions', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 5,
      err: matching(/^fleetmend: the gateway at http:\/\/127\.0\.0\.1:1 does not answer/),
    });
  });
});

describe('the offline commands', () => {
  it('answer a bad line in its place, and end with exit code 2', async () => {
    const { code, out } = await run(['gate', 'replay'], {}, '{"values":[0.5]}\nnonsense\n\n{"values":["x"]}\n');
    expect(code).toBe(2);
    expect(lines(out).map(json)).toEqual([
      { verdicts: [{ peak: 0.5, turns_since_gain: 0, stalled: false, regressed: false }] },
      { error: expect.any(String), line: 2 },
      { error: 'values.0: a number is needed, not "x"', line: 4 },
    ]);
  });

  it('score a trace', async () => {
    const line = '{"trace":{"input":"hi","output":"hello","spans":[]},"metrics":["task_completion"]}';
    const { code, out } = await run(['score'], {}, `${line}\n`);
    expect({ code, answer: json(out) }).toMatchObject({
      code: 0,
      answer: { scores: [{ metric: 'task_completion', status: 'scored' }] },
    });
  });

  const golden = sharedIsThere('golden files through the offline commands') ? it : it.skip;
  const answers = [
    ...['verdicts', 'outcomes', 'admitted', 'budget_skip_events', 'episodes', 'once', 'output'],
    ...['normalize', 'normalize_or_none', 'validate', 'repair_add', 'repair_add_applicability_global', 'task_read', 'hint_key'],
    ...['verdict', 'matched_rule_id', 'check', 'covering', 'similarity', 'add_without_similarity'],
    ...['stored_rule', 'stored_scope', 'stored_tags', 'search_live', 'search_active', 'relevant', 'scopes', 'by_scope'],
  ];
  /** Fields that say how many there are, or what they are called: asked with, and answered. */
  const askedToo = (name: string, line: Fields): Fields => {
    if (name === 'episode') return { sessions: Object.keys(line['episodes'] as Fields) };
    return name === 'search' ? pick(line, (key) => key === 'by_scope') : {};
  };
  /** Errors are worded by each side for itself. */
  const unworded = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, one: unknown) => (key === 'error' ? undefined : one)));
  const pick = (fields: Fields, wanted: (key: string) => boolean): Fields =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => wanted(key)));
  /** Of a dedup line, what other code than the loop's decides. */
  const withoutShown = (line: Fields): Fields =>
    Array.isArray(line['outcomes'])
      ? { outcomes: line['outcomes'].map((one: Fields) => pick(one, (key) => !['dump_written', 'summary'].includes(key))) }
      : line;

  golden.each([
    ['gate', ['gate', 'replay']],
    ['dedup', ['notice', 'dedup']],
    ['episode', ['episodes', 'group']],
    ['sanitize', ['sanitize']],
    ['scope', ['scope', 'check']],
    ['novelty', ['rules', 'novelty']],
    ['search', ['rules', 'rank']],
  ])('answer every line of %s', async (name, args) => {
    const given = lines(readShared(`../golden/${name}.jsonl`)).map(json);
    const inputs = given.map((line) => {
      const asked = pick(line, (key) => !answers.includes(key));
      return { ...asked, ...askedToo(name, line) };
    });
    const { code, out } = await run(args, {}, inputs.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const right = given.map((line) => pick(line, (key) => answers.includes(key))).map(withoutShown);
    expect(code).toBe(0);
    expect(unworded(lines(out).map(json))).toEqual(unworded(right));
  });
});
