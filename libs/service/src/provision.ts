import { consumers } from '#contracts';
import { connectNats, applyTopology } from '#messaging/jetstream';
import { migrate } from '#persistence';

export interface ProvisionOptions {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly ackWaitMs: number;
  /** Copies of each stream: 1 on one server, 3 on a cluster. */
  readonly replicas?: number;
  /** Whether scores are exported (`scores_out_url`). */
  readonly scoresOut?: boolean;
}

/** Brings schema, streams and consumers up to date; nothing else ever creates them. Returns one line per change. */
export async function provision({
  natsUrl,
  databaseUrl,
  ackWaitMs,
  replicas = 1,
  scoresOut = false,
}: ProvisionOptions): Promise<string[]> {
  const applied = await migrate(databaseUrl);
  const nats = await connectNats({ url: natsUrl, name: 'migrate', patient: false });
  try {
    const changes = await applyTopology(nats, {
      replicas,
      ackWaitMs,
      optional: scoresOut ? [consumers.scoringReports.durable] : [],
    });
    return [...applied.map((name) => `migration ${name} applied`), ...changes];
  } finally {
    await nats.close();
  }
}
