import { whatMoves } from './invariants/quiet.js';
import { Broker } from './jetstream/broker.js';
import { Reader } from './postgres/reader.js';

/** What is still under way in the loop, one line each; nothing when it is at rest. */
export async function restlessness({ databaseUrl, natsUrl }: { databaseUrl: string; natsUrl: string }): Promise<string[]> {
  const reader = await Reader.open(databaseUrl);
  try {
    const broker = await Broker.open(natsUrl);
    try {
      return await whatMoves(reader, broker);
    } finally {
      await broker.close();
    }
  } finally {
    await reader.close();
  }
}
