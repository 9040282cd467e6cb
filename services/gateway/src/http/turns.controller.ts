import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { TurnsResponse } from '#contracts';
import { redactSecrets } from '#domain/text';
import type { Caller } from '../access/caller.js';
import { Ingest } from '../ingest/ingest.js';
import { scoreItems, turnItems, type ItemKind } from '../ingest/prepare.js';
import { readJson } from './body.js';
import { CurrentCaller } from './current-caller.js';
import { ProblemError, problemOf } from './problem.js';
import { Input, Route, type InputOf } from './route.js';
import { routes } from './routes.js';

@Controller()
export class TurnsController {
  constructor(@Inject(Ingest) private readonly ingest: Ingest) {}

  @Route(routes.postTurns)
  async postTurns(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<TurnsResponse> {
    return this.accept(turnItems, caller, request);
  }

  @Route(routes.postScores)
  async postScores(@CurrentCaller() caller: Caller, @Req() request: FastifyRequest): Promise<TurnsResponse> {
    return this.accept(scoreItems, caller, request);
  }

  @Route(routes.endSession)
  async endSession(
    @CurrentCaller() caller: Caller,
    @Input() { params, body }: InputOf<typeof routes.endSession>,
  ): Promise<{ session_id: string; notes: string[] }> {
    const reason = redactSecrets(body?.reason ?? null) as string | null;
    await this.ingest.endSession(caller.project, params.id, reason);
    return { session_id: params.id, notes: [] };
  }

  private async accept(kind: ItemKind, { project }: Caller, request: FastifyRequest): Promise<TurnsResponse> {
    const body = readJson(request);
    if (body === undefined)
      throw new ProblemError(problemOf('invalid-json', 400, 'The body is empty: send one object or a list of them as JSON.'));
    return this.ingest.accept(kind, project, body);
  }
}
