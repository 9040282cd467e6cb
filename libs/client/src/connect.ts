import type { SettleAnswer } from '../../contracts/src/http-settle.js';
import type { Broker } from './connection.js';
import { HttpTransport, type HttpOptions } from './http-transport.js';
import { NatsTransport } from './nats-transport.js';
import { RuleCache } from './rule-cache.js';
import { Rules } from './rules.js';
import { Session, type SettleOptions } from './session.js';
import { Tools } from './tools.js';
import type { Transport } from './transport.js';

/** Over NATS: `url` (or a `connection` of yours) and `project`. Over HTTP: `http`, and `key`, which says the project. */
export type ConnectOptions = (Broker | HttpOptions) & {
  /** Over NATS; default `default`. */
  readonly project?: string;
  /** Told of trouble that no call of yours is waiting for. */
  readonly onError?: (error: Error) => void;
};

const DEFAULT_PROJECT = 'default';

/**
 * A client of the loop. Returns at once and connects in the background: an agent starts whether the loop is there or not. Nothing rejects
 * or throws but the calls that you make.
 */
export function connect(options: ConnectOptions): Client {
  if ('http' in options) return new Client(new HttpTransport(options));
  const { project = DEFAULT_PROJECT, onError, ...broker } = options;
  return new Client(new NatsTransport(broker, project, told(onError)));
}

function told(onError: ConnectOptions['onError']): (error: Error) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      // A listener that fails must not end the agent that it listens to.
    }
  };
}

export class Client {
  /** The four reads, for a session or for nobody. */
  readonly rules: Rules;
  /** The tools for an agent without a session: it sees what is proven. */
  readonly tools: Tools;
  private readonly cache: RuleCache;

  constructor(private readonly transport: Transport) {
    this.cache = new RuleCache(transport);
    this.rules = new Rules(this.cache);
    this.tools = new Tools(this.cache, {});
  }

  session(id: string): Session {
    return new Session({ transport: this.transport, cache: this.cache }, id);
  }

  /** As `session(id).settle(turn)`. */
  settle(session: string, turn: number, options: SettleOptions = {}): Promise<SettleAnswer> {
    return this.session(session).settle(turn, options);
  }

  /** For who wants to know at the start. Waits for a broker that is not up yet; rejects when it refuses. */
  connected(): Promise<void> {
    return this.transport.connected();
  }

  /** Ends what was opened here; a connection of yours stays open. Never rejects. */
  async close(): Promise<void> {
    await this.transport.close().catch(() => undefined);
  }
}
