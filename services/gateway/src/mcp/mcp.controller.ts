import { Controller, Inject, Req, Res, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.js';
import { readJson } from '../http/body.js';
import { CurrentCaller } from '../http/current-caller.js';
import { readingOf } from '../http/reading.js';
import { Input, Route, type InputOf } from '../http/route.js';
import { McpDoor } from './mcp-server.js';
import { mcpRoutes } from './routes.js';

/** The Model Context Protocol over Streamable HTTP, without sessions of its own: `Fleetmend-Session` names who reads. */
@Controller()
export class McpController implements OnApplicationShutdown {
  constructor(@Inject(McpDoor) private readonly door: McpDoor) {}

  @Route(mcpRoutes.mcp)
  async call(
    @CurrentCaller() { project }: Caller,
    @Input() { query }: InputOf<typeof mcpRoutes.mcp>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const body = readJson(request)?.value;
    const asked = new Request(`http://${request.headers.host ?? 'localhost'}/mcp`, {
      method: 'POST',
      headers: headersOf(request),
    });
    const answer = await this.door.answer(asked, { project, ...readingOf(request, query.session) }, body);
    await reply
      .status(answer.status)
      .headers(Object.fromEntries(answer.headers))
      .send(await answer.text());
  }

  async onApplicationShutdown(): Promise<void> {
    await this.door.close();
  }
}

/** Those of the protocol; the others, the key among them, are nothing that it needs to see. */
function headersOf({ headers }: FastifyRequest): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => /^(accept|content-type|mcp-[a-z-]+)$/.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]));
}
