import { provision } from '#service';
import { withBroker } from './jetstream/connect.js';
import { answer, type FormatOption } from './output/answer.js';
import { withDatabase } from './postgres/database.js';
import { requireServers } from './servers.js';

export async function migrateAll({ replicas, ...options }: FormatOption & { readonly replicas: number }): Promise<void> {
  const { natsUrl, databaseUrl, settings } = await requireServers();
  // Asked first, for a clear word when one of them is not there.
  await withBroker(natsUrl, () => withDatabase(databaseUrl, () => Promise.resolve()));
  const { ack_wait_ms: ackWaitMs, scores_out_url: scoresOut } = settings.process;
  const changes = await provision({ natsUrl, databaseUrl, ackWaitMs, replicas, scoresOut: scoresOut !== undefined });
  await answer({ changes }, options, () => (changes.length === 0 ? 'up to date' : changes.join('\n')));
}
