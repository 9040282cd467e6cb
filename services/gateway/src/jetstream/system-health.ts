import type { NatsConnection } from '@nats-io/transport-node';
import { healthChanged, LIVE_PREFIX, SYSTEM_PROJECT } from '#contracts';

interface Trouble {
  readonly detail: string;
  readonly heardAt: number;
}

/** A change is said once, and a process that dies in trouble never says that it is over: nothing is believed for ever. */
const BELIEVED_MS = 3_600_000;

/** What the services said about themselves since this process began to listen. */
export class SystemHealth {
  private readonly known = new Map<string, Trouble>();

  constructor(
    nc: Pick<NatsConnection, 'subscribe'>,
    private readonly now: () => number = Date.now,
  ) {
    nc.subscribe([LIVE_PREFIX, healthChanged.subject(SYSTEM_PROJECT, '*')].join('.'), {
      callback: (error, message) => {
        if (error === null) this.heard(message.string());
      },
    });
  }

  /** By `service.dependency`. */
  troubles(): Readonly<Record<string, string>> {
    this.forget();
    return Object.fromEntries([...this.known].map(([name, { detail }]) => [name, detail]));
  }

  /** How many are kept in memory: those of providers have names without end. */
  get size(): number {
    return this.known.size;
  }

  private forget(): void {
    const since = this.now() - BELIEVED_MS;
    for (const [name, { heardAt }] of this.known) if (heardAt <= since) this.known.delete(name);
  }

  private heard(text: string): void {
    this.forget();
    const parsed = healthChanged.schema.safeParse(jsonOf(text));
    // The gateway's own troubles are known first-hand, of every copy of it.
    if (!parsed.success || parsed.data.service === 'gateway') return;
    const { service, dependency, status, detail } = parsed.data;
    const name = `${service}.${dependency}`;
    if (status === 'ok') this.known.delete(name);
    else this.known.set(name, { detail, heardAt: this.now() });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
