import type { LoadedSettings } from '#config';
import { startEmbedded } from '#embedded';
import { provision, type RunningService } from '#service';
import { startGateway, type RunningGateway } from '../../../gateway/src/start.js';
import { startGating } from '../../../gating/src/gating.module.js';
import { startMailbox } from '../../../mailbox/src/mailbox.module.js';
import { startRepair } from '../../../repair/src/repair.module.js';
import { startScoring } from '../../../scoring/src/scoring.module.js';
import { startValidation } from '../../../validation/src/validation.module.js';
import { removeRunFile, writeRunFile } from '../run-file.js';
import { say } from '../output/write.js';
import type { StartedParts } from './started-parts.js';
import type { Stopping } from './stopping.js';
import { mkdir } from 'node:fs/promises';

/** A running loop: where it answers, and the servers it uses. `databaseUrl` holds a password. */
export interface Loop {
  readonly url: string;
  readonly natsUrl: string;
  readonly databaseUrl: string;
}

const WITHOUT_REPAIR =
  'repair_model is not set, so the repair service is left out: notices are posted, and episodes wait for a repair';

/** Starts servers, schema, streams and services in this process. What was started is in `parts`, also when this throws. */
export async function startLoop(settings: LoadedSettings, parts: StartedParts, stopping: Stopping): Promise<Loop> {
  const servers = await startServers(settings, parts, stopping);
  const { ack_wait_ms: ackWaitMs } = settings.process;
  const changes = await stopping.race(
    provision({ ...servers, ackWaitMs, scoresOut: settings.process.scores_out_url !== undefined }),
  );
  say(changes.length === 0 ? 'schema, streams and consumers are up to date' : summaryOf(changes));
  const loaded = withServers(settings, servers);
  await startConsumers(loaded, parts);
  parts.layer();
  const gateway = await parts.start('the gateway', startGateway(loaded), stop);
  say(`the gateway answers at ${gateway.url}`);
  if (!repairs(loaded)) say(WITHOUT_REPAIR);
  const loop = { url: gateway.url, ...servers };
  await announce(settings, loop, parts);
  return loop;
}

async function startServers(
  { process: own }: LoadedSettings,
  parts: StartedParts,
  stopping: Stopping,
): Promise<Omit<Loop, 'url'>> {
  const given = [own.nats_url ? ['NATS'] : [], own.database_url ? ['Postgres'] : []].flat();
  const embedded = ['NATS', 'Postgres'].filter((name) => !given.includes(name));
  if (given.length > 0) say(`using the ${given.join(' and the ')} that ${given.length > 1 ? 'are' : 'is'} given`);
  if (embedded.length > 0) say(`starting ${embedded.join(' and ')}; data in ${own.data_dir}`);
  const starting = startEmbedded({
    dir: own.data_dir,
    natsUrl: own.nats_url,
    databaseUrl: own.database_url,
    natsServerBin: own.nats_server_bin,
    log: say,
    onCrash: (error) => stopping.fail(error),
  });
  parts.layer();
  const { natsUrl, databaseUrl } = await parts.start('the embedded servers', starting, (servers) => servers.stop());
  return { natsUrl, databaseUrl };
}

function withServers(settings: LoadedSettings, { natsUrl, databaseUrl }: Omit<Loop, 'url'>): LoadedSettings {
  return { ...settings, process: { ...settings.process, nats_url: natsUrl, database_url: databaseUrl } };
}

/** In an order in which nobody has to wait for a reader, and all stopped together: what one of them still emits waits in its stream. */
async function startConsumers(loaded: LoadedSettings, parts: StartedParts): Promise<void> {
  parts.layer();
  await parts.start('mailbox', startMailbox(loaded), stop);
  await parts.start('gating', startGating(loaded), stop);
  await parts.start('scoring', startScoring(loaded), stop);
  await parts.start('validation', startValidation(loaded), stop);
  if (repairs(loaded)) await parts.start('repair', startRepair(loaded), stop);
}

/** Without a model there is nobody to repair: no model is ever picked by default. */
function repairs({ projects }: LoadedSettings): boolean {
  return (projects.repair_model ?? null) !== null;
}

const stop = (service: RunningService | RunningGateway): Promise<void> => service.stop();

async function announce({ process: own }: LoadedSettings, loop: Loop, parts: StartedParts): Promise<void> {
  await mkdir(own.data_dir, { recursive: true });
  const content = { url: loop.url, nats_url: loop.natsUrl, database_url: loop.databaseUrl, pid: process.pid };
  parts.layer();
  await parts.start('run.json', writeRunFile(own.data_dir, content), () => removeRunFile(own.data_dir, process.pid));
}

function summaryOf(changes: readonly string[]): string {
  const count = (word: string): number => changes.filter((change) => change.startsWith(word)).length;
  return `prepared: ${count('migration')} migrations, ${count('stream')} streams, ${count('consumer')} consumers`;
}
