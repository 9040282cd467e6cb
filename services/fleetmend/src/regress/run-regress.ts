import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RegressionReport, RegressionRun } from '#contracts';
import { CommandError, exitCodes, type ExitCode } from '../exit-codes.js';
import { openGateway, type Gateway, type GatewayOptions } from '../http/gateway.js';
import { answer, type FormatOption } from '../output/answer.js';
import { Progress } from '../output/progress.js';
import { say } from '../output/write.js';
import { junitOf } from './junit.js';
import { isClean, reportText } from './text.js';

export interface RegressOptions extends GatewayOptions, FormatOption {
  readonly k?: number;
  readonly sample?: number;
  readonly junit?: string;
  readonly timeout: number;
}

const PAUSE_MS = 250;
/** Without any progress for so long somebody should look whether a worker is connected. */
const QUIET_MS = 10_000;

/** Begins a run and waits for its end. 1 when anything regressed. */
export async function runRegress({ k, sample, junit, timeout, ...options }: RegressOptions): Promise<ExitCode> {
  const gateway = await openGateway(options);
  const run = await gateway.call<RegressionRun>('POST', '/v1/regressions', {
    ...(k === undefined ? {} : { k }),
    ...(sample === undefined ? {} : { sample }),
  });
  const report = await untilDone(gateway, run, timeout);
  if (junit !== undefined) await writeFile(junit, junitOf(report));
  await answer(report, options, reportText);
  return isClean(report) ? exitCodes.ok : exitCodes.finding;
}

async function untilDone(gateway: Gateway, { id, runs }: RegressionRun, timeoutS: number): Promise<RegressionReport> {
  const progress = new Progress('regression run', runs);
  const until = performance.now() + timeoutS * 1000;
  let moved = { done: 0, at: performance.now(), said: false };
  for (;;) {
    const report = await gateway.get<RegressionReport>(`/v1/regressions/${id}`);
    progress.show(report.done, `${report.done} of ${report.runs} runs, ${report.counts.regressed ?? 0} regressed`);
    if (report.state !== 'running') {
      progress.clear();
      return report;
    }
    if (report.done > moved.done) moved = { done: report.done, at: performance.now(), said: false };
    else if (!moved.said && performance.now() - moved.at > QUIET_MS) {
      progress.clear();
      say('nothing has moved for a while: is a replay worker connected? The run goes on; Ctrl-C leaves it running');
      moved = { ...moved, said: true };
    }
    if (performance.now() > until) {
      progress.clear();
      throw new CommandError(
        exitCodes.unreachable,
        `the run ${id} has not ended within ${timeoutS} s; it goes on: \`fleetmend regress show ${id}\``,
      );
    }
    await sleep(PAUSE_MS);
  }
}
