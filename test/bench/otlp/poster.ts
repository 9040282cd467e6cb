import { Agent, request } from 'node:http';

/** Posts bodies over connections that stay open, as exporters do. */
export class Poster {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(private readonly port: number) {}

  /** The status of the answer. */
  post(body: Buffer, headers: Readonly<Record<string, string>>): Promise<number> {
    return new Promise((resolve, reject) => {
      const { port, agent } = this;
      const sent = request(
        {
          port,
          agent,
          host: '127.0.0.1',
          path: '/v1/traces',
          method: 'POST',
          headers: { ...headers, 'content-length': body.length },
        },
        (answer) => {
          answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      sent.once('error', reject).end(body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Runs `work` for 0 … count - 1, `width` of them at once. */
export async function inParallel(width: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}
