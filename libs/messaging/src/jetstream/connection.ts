import { connect, type NatsConnection } from '@nats-io/transport-node';

/** Every service has an inbox prefix of its own, so that permissions can name it. */
export interface ConnectionSettings {
  readonly url: string;
  readonly name: string;
  /** Wait for a server that is not up yet; otherwise fail at once. */
  readonly patient?: boolean;
}

export async function connectNats({ url, name, patient = true }: ConnectionSettings): Promise<NatsConnection> {
  return connect({
    servers: url.split(','),
    name: `fleetmend-${name}`,
    inboxPrefix: `_INBOX.${name}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    waitOnFirstConnect: patient,
    ignoreAuthErrorAbort: patient,
  });
}
