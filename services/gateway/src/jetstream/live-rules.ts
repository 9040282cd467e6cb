import type { NatsConnection } from '@nats-io/transport-node';
import { LIVE_PREFIX, projectOfSubject, ruleChanged } from '#contracts';

/** Tells of every change of rules as it is stored. What is missed while the connection is away is found by asking for the version. */
export function followRules(nc: Pick<NatsConnection, 'subscribe'>, changed: (project: string) => void): void {
  nc.subscribe([LIVE_PREFIX, ruleChanged.pattern].join('.'), {
    callback: (error, message) => {
      const project = error === null ? projectOfSubject(message.subject.slice(LIVE_PREFIX.length + 1)) : undefined;
      if (project !== undefined) changed(project);
    },
  });
}
