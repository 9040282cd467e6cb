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

  constructor(nc: NatsConnection) {
    nc.subscribe([LIVE_PREFIX, healthChanged.subject(SYSTEM_PROJECT, '*')].join('.'), {
      callback: (error, message) => {
        if (error === null) this.heard(message.string());
      },
    });
  }

  /** By `service.dependency`. */
  troubles(): Readonly<Record<string, string>> {
    const since = Date.now() - BELIEVED_MS;
    return Object.fromEntries(
      [...this.known].filter(([, { heardAt }]) => heardAt > since).map(([name, { detail }]) => [name, detail]),
    );
  }

  private heard(text: string): void {
    const parsed = healthChanged.schema.safeParse(jsonOf(text));
    // The gateway's own troubles are known first-hand, of every copy of it.
    if (!parsed.success || parsed.data.service === 'gateway') return;
    const { service, dependency, status, detail } = parsed.data;
    const name = `${service}.${dependency}`;
    if (status === 'ok') this.known.delete(name);
    else this.known.set(name, { detail, heardAt: Date.now() });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
