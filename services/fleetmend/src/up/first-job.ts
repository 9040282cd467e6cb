import { setTimeout as sleep } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { CommandError, exitCodes } from '../exit-codes.js';
import { Gateway } from '../http/gateway.js';
import { manager, withBroker } from '../jetstream/connect.js';
import { unfinished } from '../jetstream/loop-state.js';
import { Progress } from '../output/progress.js';
import type { Database } from '../postgres/database.js';
import { say } from '../output/write.js';
import { storedTurns } from '../postgres/overview.js';
import { importFiles, importSample, type ImportOptions, type ImportSummary } from '../recordings/import.js';
import { summaryText } from '../recordings/run-import.js';
import type { Loop } from './start-loop.js';

export interface FirstJobOptions extends ImportOptions {
  readonly files: readonly string[];
  readonly sample: boolean;
  readonly key: string | undefined;
}

export interface FirstJob {
  readonly kind: 'import' | 'sample' | 'continue';
  readonly imported: ImportSummary | null;
}

/** Imports what was given; else plays the sample when nothing is stored yet. Returns when the loop is through with it. */
export async function runFirstJob(loop: Loop, db: Database, options: FirstJobOptions): Promise<FirstJob> {
  const gateway = new Gateway({ url: loop.url, key: options.key });
  const job = await feed(gateway, db, options);
  if (job.imported !== null) {
    say(summaryText(job.imported));
    await withBroker(loop.natsUrl, async (nats) => waitUntilQuiet(await manager(nats)));
  }
  return job;
}

async function feed(gateway: Gateway, db: Database, options: FirstJobOptions): Promise<FirstJob> {
  if (options.files.length > 0) {
    say(`importing ${options.files.join(', ')}`);
    return { kind: 'import', imported: await importFiles(gateway, options.files, options) };
  }
  const turns = await storedTurns(db);
  if (turns > 0 || !options.sample) {
    say(turns > 0 ? `continuing with ${turns} stored turns` : 'no turns are stored yet');
    return { kind: 'continue', imported: null };
  }
  say('no turns are stored yet: playing a recorded support desk, three sessions of our own making');
  return playSample(gateway, options);
}

/** Where keys are required and none is at hand, somebody has prepared this loop for turns of their own. */
async function playSample(gateway: Gateway, options: ImportOptions): Promise<FirstJob> {
  try {
    return { kind: 'sample', imported: await importSample(gateway, options) };
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== exitCodes.notAllowed) throw error;
    say(`the sample is left out, since keys are required: ${error.message}`);
    return { kind: 'continue', imported: null };
  }
}

const ASK_MS = 150;
/** Without any progress for so long, something holds the loop up, and the table says what there is. */
const PATIENCE_MS = 45_000;

/** Until no consumer has anything to do, asked twice: between the two a message may have been under way. */
async function waitUntilQuiet(jsm: JetStreamManager): Promise<void> {
  let [most, last, changedAt] = [0, -1, performance.now()];
  const progress = new Progress('evaluating', 100);
  for (let quiet = 0; quiet < 2;) {
    const left = await unfinished(jsm);
    if (left !== last) changedAt = performance.now();
    [most, last] = [Math.max(most, left), left];
    quiet = left === 0 ? quiet + 1 : 0;
    if (performance.now() - changedAt > PATIENCE_MS) {
      progress.clear();
      say(`${left} messages are still waiting; look further with \`fleetmend doctor\``);
      return;
    }
    progress.show(most === 0 ? 0 : (100 * (most - left)) / most, `${left} to go`);
    await sleep(ASK_MS);
  }
  progress.clear();
}
