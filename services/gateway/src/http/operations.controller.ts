import { Controller, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { generatedDocument } from '../operations/documents.js';
import { GatewayMetrics } from '../operations/gateway-metrics.js';
import { homePage } from '../operations/home-page.js';
import { ReadinessCheck } from '../operations/readiness.js';
import { openApiDocument } from './openapi.js';
import { notFound } from './problem.js';
import { Route } from './route.js';
import { routes } from './routes.js';

/** For operators and tools; no key is needed, and nothing here tells what is in a project, only that a provider of it is blocked. */
@Controller()
export class OperationsController {
  constructor(
    @Inject(ReadinessCheck) private readonly readiness: ReadinessCheck,
    @Inject(GatewayMetrics) private readonly gatewayMetrics: GatewayMetrics,
  ) {}

  @Route(routes.health)
  health(): { status: 'alive' } {
    return { status: 'alive' };
  }

  @Route(routes.ready)
  async ready(@Res() reply: FastifyReply): Promise<void> {
    const answer = await this.readiness.ask();
    await reply.status(answer.status === 'unavailable' ? 503 : 200).send(answer);
  }

  @Route(routes.metrics)
  async metrics(@Res() reply: FastifyReply): Promise<void> {
    const { text, contentType } = await this.gatewayMetrics.render();
    await reply.type(contentType).send(text);
  }

  @Route(routes.openapi)
  openapi(): object {
    return openApiDocument();
  }

  @Route(routes.asyncapi)
  async asyncapi(@Res() reply: FastifyReply): Promise<void> {
    const document = await generatedDocument('asyncapi.json');
    if (document === undefined) throw notFound('docs/generated/asyncapi.json is not part of this installation.');
    await reply.type('application/json').send(document);
  }

  @Route(routes.home)
  async home(@Res() reply: FastifyReply): Promise<void> {
    await reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
      .send(homePage());
  }
}
