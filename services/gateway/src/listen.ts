import type { FastifyInstance } from 'fastify';
import { processSettings, type ProcessSettings } from '#contracts';

const DEFAULT_PORT = processSettings.parse({}).http_port;
/** More gateways than these on one machine are started with ports of their own. */
const NEXT_PORTS = 20;

/**
 * Listens on the port of the settings; when that is the default one and taken, on the next free one, and says so. Gives the URL.
 * @throws Error with what to do when a port that was asked for cannot be had
 */
export async function listen(server: FastifyInstance, settings: ProcessSettings, say: (text: string) => void): Promise<string> {
  const { http_host: host, http_port: wanted } = settings;
  const last = wanted === DEFAULT_PORT ? wanted + NEXT_PORTS : wanted;
  for (let port = wanted; ; port += 1) {
    try {
      await server.listen({ host, port });
      if (port !== wanted) say(`port ${wanted} is taken by another program; listening on ${port} instead`);
      return urlOf(server, host);
    } catch (error) {
      if ((error as { code?: string }).code !== 'EADDRINUSE' || port >= last) throw refusal(host, port, error);
    }
  }
}

function urlOf(server: FastifyInstance, host: string): string {
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : DEFAULT_PORT;
  // Listening everywhere is no address to call.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program has it: stop that one, or choose another http_port (0 takes any free one)',
  EACCES: 'this user may not take it: choose an http_port of 1024 or more',
  EADDRNOTAVAIL: 'this machine has no such address: correct http_host',
  ENOTFOUND: 'the name is not known: correct http_host',
};

function refusal(host: string, port: number, error: unknown): Error {
  const code = (error as { code?: string }).code ?? '';
  return new Error(`cannot listen on ${host}:${port}: ${REASONS[code] ?? (error instanceof Error ? error.message : code)}`, {
    cause: error,
  });
}
