import Fastify from 'fastify';

/** The least that a route can do: the same bytes every time, of the length that `?bytes=` asks for. Says its port to its parent. */
const server = Fastify();
const bodies = new Map<number, string>();

function bodyOf(bytes: number): string {
  const known = bodies.get(bytes);
  if (known !== undefined) return known;
  const body = JSON.stringify({ text: 'x'.repeat(Math.max(0, bytes - 11)) });
  bodies.set(bytes, body);
  return body;
}

server.get<{ Querystring: { bytes: string } }>('/', async (request, reply) => {
  await reply.type('application/json').send(bodyOf(Number(request.query.bytes)));
});
await server.listen({ host: '127.0.0.1', port: 0 });
const address = server.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
process.on('disconnect', () => process.exit(0));
