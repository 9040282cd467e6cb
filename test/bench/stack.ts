import { connect, type NatsConnection } from '@nats-io/transport-node';
import { jetstream } from '@nats-io/jetstream';
import { cpus, totalmem } from 'node:os';
import { startNats, startPostgres } from '#embedded';
import { provision } from '#service';
import { benchTurn, type TurnSource } from './turns.js';

const IN_FLIGHT = 256;

/** The servers that the services under measurement use. */
export interface Stack {
  readonly natsUrl: string;
  readonly databaseUrl: string;
  readonly pids: { readonly nats: number; readonly postgres: number };
  stop(): Promise<void>;
}

export async function startStack(dir: string): Promise<Stack> {
  const [nats, postgres] = await Promise.all([startNats({ dir }), startPostgres({ dir })]);
  await provision({ natsUrl: nats.url, databaseUrl: postgres.url, ackWaitMs: 10_000 });
  return {
    natsUrl: nats.url,
    databaseUrl: postgres.url,
    pids: { nats: nats.pid, postgres: postgres.pid },
    stop: async () => {
      await nats.stop();
      await postgres.stop();
    },
  };
}

export function machine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const day = new Date().toISOString().slice(0, 10);
  return `${cpus().length} x ${cpus()[0]?.model ?? '?'}, ${memory} GiB, Node ${process.version}, ${day}`;
}

/** Publishes turns with at most IN_FLIGHT unacknowledged, resting when the backlog is long. Returns seconds. */
export async function publishTurns(nc: NatsConnection, source: TurnSource, count: number, run: string): Promise<number> {
  const js = jetstream(nc, { timeout: 30_000 });
  const turns = Array.from({ length: count }, (_, index) => benchTurn(source, index, run));
  const started = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++)
      await retrying(() => js.publish('fm.default.turn.ended', turns[index] ?? ''));
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (performance.now() - started) / 1000;
}

/** A full stream refuses: the generator waits, as a gateway's client would. */
async function retrying(work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await work();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** When each report of `default` came on the live subject (performance.now), by session and turn. */
export class Reports {
  readonly at = new Map<string, number>();

  private constructor(readonly nats: NatsConnection) {}

  static async listen(stack: Stack): Promise<Reports> {
    const nats = await connect({ servers: stack.natsUrl });
    const reports = new Reports(nats);
    nats.subscribe('live.fm.default.turn.evaluated', {
      callback: (_, message) => {
        const { session_id: session, turn_index: turn } = message.json<{ session_id: string; turn_index: number }>();
        const key = `${session}|${turn}`;
        if (!reports.at.has(key)) reports.at.set(key, performance.now());
      },
    });
    await nats.flush();
    return reports;
  }

  close(): Promise<void> {
    return this.nats.close();
  }
}

/** How `benchTurn` names its `index`th turn, as Reports does. */
export function reportKey({ sessions }: TurnSource, index: number, run: string): string {
  return `${run}-${index % sessions}|${Math.floor(index / sessions)}`;
}
