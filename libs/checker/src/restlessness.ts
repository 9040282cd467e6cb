import { RestWatch } from './invariants/quiet.js';
import { Broker } from './jetstream/broker.js';
import { Reader } from './postgres/reader.js';

/** Looks at a loop again and again until it is at rest. */
export class Restlessness {
  private readonly watch = new RestWatch();

  constructor(private readonly servers: { readonly databaseUrl: string; readonly natsUrl: string }) {}

  /** What is still under way, one line each; nothing when the loop is at rest. Throws when a server does not answer. */
  async look(): Promise<string[]> {
    const reader = await Reader.open(this.servers.databaseUrl);
    try {
      const broker = await Broker.open(this.servers.natsUrl);
      try {
        return await this.watch.look(reader, broker);
      } finally {
        await broker.close();
      }
    } finally {
      await reader.close();
    }
  }
}
