import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectSettings } from '#contracts';
import { explainError } from '../explain-error.js';
import { createProgram } from '../program.js';

const dir = mkdtempSync(join(tmpdir(), `fleetmend-test-${process.pid}-calibrate-`));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeEach(() => {
  jest.restoreAllMocks();
});

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One command line, with what it writes. */
async function run(...args: string[]): Promise<Ended> {
  let [out, err] = ['', ''];
  jest.spyOn(process.stdout, 'write').mockImplementation(((text: string, done?: () => void) => {
    out += text;
    done?.();
    return true;
  }) as typeof process.stdout.write);
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((err += String(text))));
  try {
    await createProgram('0', () => undefined).parseAsync(['calibrate', ...args], { from: 'user' });
    return { code: 0, out, err };
  } catch (error) {
    const { exitCode, message } = explainError(error);
    return { code: exitCode, out, err: err + (message ?? '') };
  }
}

/** Failed sessions end on 0.3, fine ones dip to 0.7. */
const scores = file(
  'scores.jsonl',
  ['f1', 'f2', 'f3', 'w1', 'w2', 'w3']
    .map((session) => ({
      session_id: session,
      values: { task_completion: session.startsWith('f') ? [0.9, 0.9, 0.3] : [0.9, 0.7, 0.9] },
    }))
    .map((line) => JSON.stringify(line))
    .join('\n'),
);
const labels = file('labels.csv', 'session_id,failed\nf1,yes\nf2,1\nf3,true\nw1,no\nw2,\nw3,0\n');

describe('fleetmend calibrate --file', () => {
  it('answers with thresholds, gate, and what to set', async () => {
    const { code, out } = await run('--file', scores, '--labels', labels, '--format', 'json');
    expect(code).toBe(0);
    const change = { gate_window: 5, gate_target: 0.5, gate_gain: 0.02, gate_drop: 0.3 };
    expect(JSON.parse(out)).toMatchObject({
      ...{ sources: ['file'], session_count: 6, target_precision: 0.9, cut_sessions: 0 },
      labels: { sessions: 6, failed: 3, from: ['file'] },
      metrics: [{ metric: 'task_completion', labeled: { tp: 3, fp: 0, fn: 0, tn: 3 } }],
      gate: { in_force: { fired: 6 }, recommended: { fired: 3, labeled: { precision: 1, recall: 1 } } },
      settings: { thresholds: {}, gate_overrides: { 'task_completion@check': change } },
    });
  });

  it('says the same to people, with the command that sets it', async () => {
    const { out } = await run('--file', scores, '--labels', labels, '--format', 'pretty');
    expect(out).toContain('task_completion: 6 sessions, threshold 0.5');
    expect(out).toContain('precision 1.00, recall 1.00, F1 1.00 (tp 3, fp 0, tn 3, fn 0)');
    expect(out).toMatch(/recommended +5 +0.5 +0.02 +0.3/);
    expect(out).toContain(`fleetmend settings set 'gate_overrides.task_completion@check={"gate_window":5`);
  });

  it('shows no precision without labels, and recommends nothing', async () => {
    const { code, out } = await run('--file', scores, '--format', 'pretty');
    expect(code).toBe(0);
    expect(out).toContain('6 sessions, no labels');
    expect(out).toContain('6 of 6 sessions would have fired');
    expect(out).not.toMatch(/precision|settings set/);
  });

  it('tries the values it is given', async () => {
    const { out } = await run(
      '--file',
      scores,
      '--windows',
      '2,3',
      '--targets',
      '0.5',
      '--gains',
      '0',
      '--drops',
      '0.1,0.5,0.1',
      '--format',
      'json',
    );
    const { gate } = JSON.parse(out) as { gate: { tracks: { grid: unknown[] }[] } };
    expect(gate.tracks[0]?.grid).toHaveLength(4);
  });

  it('draws what it found as SVG', async () => {
    const plot = join(dir, 'plot.svg');
    const { code, err } = await run('--file', scores, '--labels', labels, '--plot', plot);
    expect([code, err]).toEqual([0, `plot: ${plot}\n`]);
    const svg = readFileSync(plot, 'utf8');
    expect(svg).toMatch(/^<svg[^>]* width="[1-9]/);
    for (const text of ['task_completion: lowest value per session', 'now 0.5', 'recommended', 'target 0.9', 'failed'])
      expect(svg).toContain(text);
  });

  it('draws without labels too, and never takes a name for markup', async () => {
    const plot = join(dir, 'unlabelled.svg');
    const odd = file('odd.jsonl', '{"session_id": "s", "values": {"<script>": [0.9, 0.2]}}');
    expect(await run('--file', odd, '--gate-metrics', '<script>', '--plot', plot)).toMatchObject({ code: 0 });
    const svg = readFileSync(plot, 'utf8');
    expect(svg).toContain('median turns before the end');
    expect(svg).toContain('&lt;script&gt;');
    expect(svg).not.toMatch(/<script|not labelled/);
  });

  it('says that no stored metric goes through the gate, and how to name one', async () => {
    const other = file('other.jsonl', '{"session_id": "s", "values": {"mine": 0.2}}');
    const { out } = await run('--file', other, '--format', 'pretty');
    expect(out).toContain('no stored metric goes through it (name others with --gate-metrics)');
  });

  it.each<[string, string[], number, string]>([
    ['no scores', ['--file', file('empty.jsonl', '\n')], 1, 'no scores in'],
    ['none of this metric', ['--file', scores, '--metric', 'coherence'], 1, 'no scores in'],
    ['a file that is not there', ['--file', join(dir, 'none')], 3, 'none'],
    ['labels that are not there', ['--file', scores, '--labels', join(dir, 'none.json')], 3, 'cannot be read'],
    ['labels that are none', ['--file', scores, '--labels', file('bad.csv', 'a,b\n')], 2, 'session_id and failed'],
    ['a line that is none', ['--file', file('bad.jsonl', '{"session_id": "s"}')], 2, 'line 1: metric'],
    ['a plot that is no SVG', ['--file', scores, '--plot', 'x.png'], 2, '.svg'],
    ['a share above 1', ['--file', scores, '--target-precision', '1.5'], 2, '0 to 1'],
    ['no number', ['--file', scores, '--windows', 'wide'], 2, 'number'],
    ['a time with a file', ['--file', scores, '--since', '1'], 2, 'cannot be used'],
    ['the eval set with a file', ['--file', scores, '--labels-from', 'evalset'], 2, 'evalset'],
  ])('ends with a clear error for %s', async (_, args, code, message) => {
    const ended = await run(...args);
    expect([ended.code, ended.out]).toEqual([code, '']);
    expect(ended.err).toContain(message);
  });

  it('warns when labels are of other sessions', async () => {
    const { code, err } = await run('--file', scores, '--labels', file('other.json', '{"elsewhere": true}'), '--format', 'json');
    expect([code, err]).toEqual([0, expect.stringContaining('none of the sessions with scores is labelled')]);
  });
});

describe('fleetmend calibrate with a gateway', () => {
  const track = (metric: string, source: string, values: number[]) => ({
    metric,
    source,
    turns: values.map((_, at) => at),
    values,
  });
  const item = (session: string, kind: string | null, outcome: number) => ({
    ...{ session_id: session, first_at: 1, last_turn_index: 2, cut: session === 'w1', eval_case: kind },
    tracks: [
      track('outcome_correct', 'verifier', [outcome]),
      track('task_completion', 'check', outcome === 1 ? [0.9, 0.9, 0.9] : [0.9, 0.9, 0.3]),
    ],
  });
  const pages = [[item('f1', 'failure', 0), item('w1', 'win', 1)], [item('f2', null, 0.5)]];
  const asked: string[] = [];
  let server: Server;
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  beforeEach(async () => {
    asked.length = 0;
    server = createServer(({ url: path = '' }, response) => {
      asked.push(path);
      const at = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 0);
      const body = path.startsWith('/v1/settings')
        ? {
            project: 'default',
            version: 1,
            settings: projectSettings.parse({ thresholds: { task_completion: 0.6 } }),
            origins: {},
          }
        : { items: pages[at], next_cursor: at + 1 < pages.length ? String(at + 1) : null };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  const asking = async (...args: string[]) => {
    const ended = await run('--url', url(), '--format', 'json', ...args);
    await new Promise((resolve) => server.close(resolve));
    return { ...ended, answer: (ended.out === '' ? {} : JSON.parse(ended.out)) as Record<string, unknown> };
  };

  it('reads every page and the settings in force, and labels by outcome, which is then no score', async () => {
    const { answer } = await asking('--labels-from', 'outcomes', '--metric', 'task_completion', '--since', '5');
    expect(answer).toMatchObject({
      ...{ sources: ['history'], session_count: 3, cut_sessions: 1 },
      labels: { sessions: 3, failed: 2, from: ['outcomes'] },
      metrics: [{ metric: 'task_completion', threshold: 0.6, labeled: { tp: 2, tn: 1 } }],
    });
    expect(asked).toContain('/v1/scores?since=5&limit=100');
    expect(asked).toContain('/v1/scores?since=5&limit=100&cursor=1');
  });

  it('labels by the eval set, over which a file wins', async () => {
    const inverted = file('inverted.json', '[{"session_id": "f1", "failed": false}, {"session_id": "w1", "failed": true}]');
    const { answer } = await asking('--labels-from', 'evalset', '--labels', inverted);
    expect(answer).toMatchObject({
      labels: { sessions: 2, failed: 1, from: ['evalset', 'file'] },
      metrics: [{ metric: 'outcome_correct' }, { metric: 'task_completion', labeled: { tp: 0, fp: 1, fn: 1, tn: 0 } }],
    });
    expect(asked).toContain('/v1/scores?limit=100');
  });

  it('asks for one metric alone when that will do', async () => {
    await asking('--metric', 'task_completion');
    expect(asked).toContain('/v1/scores?metric=task_completion&limit=100');
  });

  it('ends with 5 when nobody answers', async () => {
    await new Promise((resolve) => server.close(resolve));
    const ended = await run('--url', 'http://127.0.0.1:1', '--format', 'json');
    expect([ended.code, ended.err]).toEqual([5, expect.stringContaining('does not answer')]);
  });
});
