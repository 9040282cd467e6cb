import type { NatsConnection } from '@nats-io/transport-node';
import {
  breakerClosed,
  breakerOpened,
  LIVE_PREFIX,
  noticePosted,
  noticeResolved,
  sessionRecovered,
  type EventContract,
} from '#contracts';

export interface LiveEvent {
  readonly type: string;
  /** The event's JSON as it was stored. */
  readonly data: string;
}

const followed = [
  noticePosted,
  noticeResolved,
  sessionRecovered,
  breakerOpened,
  breakerClosed,
] as unknown as readonly EventContract[];

/** What the broker republishes of a project's notices, recoveries and breaker. */
export class LiveNotices {
  constructor(private readonly nc: NatsConnection) {}

  /**
   * Each event once and at most once: what is stored while the connection is away is missed here. Resolves when the broker knows of
   * the subscription; gives the function that ends it.
   */
  async follow(project: string, receive: (event: LiveEvent) => void): Promise<() => void> {
    const subscriptions = followed.map((event) =>
      this.nc.subscribe([LIVE_PREFIX, event.subject(project, ...event.tail.map(() => '*'))].join('.'), {
        callback: (error, message) => {
          if (error === null) receive({ type: event.type, data: message.string() });
        },
      }),
    );
    await this.nc.flush();
    return () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    };
  }
}
