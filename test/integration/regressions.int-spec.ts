import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { RegressionReport, RegressionRun } from '#contracts';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '#testing';
import { runRegress } from '../../services/fleetmend/src/regress/run-regress.js';
import { ReplayScene, type Behaviour } from './replay-scene.js';

let scene: ReplayScene;
afterEach(() => scene.close());

const PATIENT_MS = 60_000;

/** The tool works in every case but those that are told. */
const failsIn =
  (...cases: readonly string[]): Behaviour =>
  async (request, host) => {
    await host.turn(request, !cases.includes(request.case_id));
    await host.finished(request);
  };

async function run(body: object = {}): Promise<RegressionReport> {
  const { status, body: begun } = await scene.http('POST', '/v1/regressions', body);
  expect(status).toBe(202);
  const { id } = begun as RegressionRun;
  return eventually(async () => {
    const report = (await scene.http('GET', `/v1/regressions/${id}`)).body as RegressionReport;
    return report.state === 'done' && report;
  }, PATIENT_MS);
}

describe('a regression run', () => {
  it('says of every case what became of it, wins first', async () => {
    scene = await ReplayScene.open();
    await scene.case('improves', 'failure', { tool_correctness: 0 });
    await scene.case('stays', 'failure', { tool_correctness: 1 });
    await scene.case('falls', 'win', { tool_correctness: 1 });
    await scene.case('shares nothing', 'win', { coherence: 1 });
    await scene.case('cannot run');
    await scene.db.query("UPDATE evalset.cases SET replay_input = NULL WHERE id = 'cannot run'");
    scene.work(failsIn('falls'));
    const { cases, counts, ...report } = await run();
    const shown = cases.map(({ case_id: id, kind, status, reason }) => `${kind} ${id}: ${status ?? '-'} ${reason ?? ''}`.trim());
    expect(shown.slice(0, 2).every((line) => line.startsWith('win'))).toBe(true);
    expect([...shown].sort()).toEqual([
      'failure cannot run: skipped no_replay_input',
      'failure improves: improved',
      'failure stays: unchanged',
      'win falls: regressed',
      'win shares nothing: unchanged',
    ]);
    expect(counts).toEqual({ improved: 1, unchanged: 2, regressed: 1, skipped: 1 });
    expect(report).toMatchObject({ runs: 5, done: 5, pass_at_k: 0.75 });
  }, 120_000);

  it('runs every case k times, and passes those of which no run regressed', async () => {
    scene = await ReplayScene.open();
    await scene.case('steady', 'win', { tool_correctness: 1 });
    await scene.case('shaky', 'win', { tool_correctness: 1 });
    let shaken = 0;
    scene.work(async (request, host) => {
      const fails = request.case_id === 'shaky' && (shaken += 1) === 2;
      await host.turn(request, !fails);
      await host.finished(request);
    });
    const report = await run({ k: 3 });
    expect(report).toMatchObject({ runs: 6, done: 6, counts: { regressed: 1, unchanged: 5 }, pass_at_k: 0.5 });
  }, 120_000);

  it('skips what a worker cannot run, and goes on', async () => {
    scene = await ReplayScene.open({ replay_timeout_s: 2 });
    for (const id of ['broken', 'fine']) await scene.case(id, 'win', { tool_correctness: 1 });
    scene.work(async (request, host) => {
      if (request.case_id === 'broken') return host.finished(request, { error: 'no such order' });
      return failsIn()(request, host);
    });
    const { cases, counts } = await run();
    expect(counts).toEqual({ skipped: 1, unchanged: 1 });
    expect(cases.find(({ status }) => status === 'skipped')).toMatchObject({ case_id: 'broken', reason: 'worker_failed' });
  }, 120_000);

  it('ends a build with 1 when anything regressed, and writes what builds show', async () => {
    scene = await ReplayScene.open();
    await scene.case('falls', 'win', { tool_correctness: 1 });
    scene.work(failsIn('falls'));
    const junit = join(await mkdtemp(join(tmpdir(), 'fm-regress-')), 'regress.xml');
    const printed: string[] = [];
    const writing = jest.spyOn(process.stdout, 'write').mockImplementation((text: unknown, ...rest: unknown[]) => {
      printed.push(String(text));
      for (const done of rest) if (typeof done === 'function') (done as () => void)();
      return true;
    });
    const code = await runRegress({ url: scene.url, junit, timeout: 60, format: 'json' }).finally(() => writing.mockRestore());
    expect(code).toBe(1);
    expect(JSON.parse(printed.join('')) as object).toMatchObject({ state: 'done', counts: { regressed: 1 } });
    expect(await readFile(junit, 'utf8')).toContain('tests="1" failures="1"');
  }, 120_000);

  it('is refused without a case that can be replayed, and unknown ones are not found', async () => {
    scene = await ReplayScene.open();
    expect((await scene.http('POST', '/v1/regressions')).status).toBe(409);
    expect((await scene.http('GET', '/v1/regressions/g-none')).status).toBe(404);
    expect((await scene.http('POST', '/v1/regressions', { k: 0 })).status).toBe(422);
  }, 120_000);

  it('of 200 cases comes to its end', async () => {
    scene = await ReplayScene.open();
    for (let n = 0; n < 200; n += 1) await scene.case(`case-${n}`, 'win', { tool_correctness: 1 });
    scene.work(failsIn());
    expect((await run()).counts).toEqual({ unchanged: 200 });
  }, 300_000);
});
