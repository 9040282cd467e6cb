import { connect } from 'node:net';

/** What a NATS server says of itself in its first line. */
export interface NatsInfo {
  server_name: string;
  version: string;
  /** Only servers with JetStream have it. */
  jetstream?: boolean;
  max_payload: number;
}

const MAX_LINE_CHARS = 64 * 1024;

/**
 * Connects and reads the server's INFO line; neither a client library nor credentials are needed for that.
 * Throws the system's error, or an Error when the other side is no NATS server or does not answer in `timeoutMs`.
 */
export function readNatsInfo(host: string, port: number, timeoutMs: number): Promise<NatsInfo> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    let text = '';
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      socket.destroy();
      settle();
    };
    const fail = (error: Error): void => {
      finish(() => {
        reject(error);
      });
    };
    const timer = setTimeout(() => {
      fail(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    socket.setEncoding('utf8');
    socket.once('error', fail);
    socket.once('close', () => {
      fail(new Error('it closed the connection'));
    });
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (!text.includes('\n') && text.length < MAX_LINE_CHARS) return;
      const info = parseInfo(text);
      if (info === undefined) fail(new Error('it answers, but not as a NATS server'));
      else
        finish(() => {
          resolve(info);
        });
    });
  });
}

function parseInfo(text: string): NatsInfo | undefined {
  const json = /^INFO (\{.*\})/.exec(text)?.[1];
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json) as NatsInfo;
  } catch {
    return undefined;
  }
}
