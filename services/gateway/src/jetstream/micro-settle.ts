import { Svcm, type Service, type ServiceMsg } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { projectOfSubject, rpcSubject, settleRequest } from '#contracts';
import { ProblemError, problemOf } from '../http/problem.js';
import type { SettleRequests } from '../settle/settle-requests.js';

const NAME = 'fleetmend-loop';
const VERSION = '0.1.0';

/**
 * `fm.<p>.rpc.settle` as a NATS micro service, so that `nats micro ls|info|stats` know it. One of several gateways takes a question.
 * Nobody can tell here whether who asked still waits: the time-out of the question is the bound.
 */
export class MicroSettle implements OnModuleInit, OnModuleDestroy {
  private service: Service | undefined;

  constructor(
    private readonly nc: NatsConnection,
    private readonly requests: SettleRequests,
  ) {}

  async onModuleInit(): Promise<void> {
    this.service = await new Svcm(this.nc).add({
      name: NAME,
      version: VERSION,
      description: 'Waits until a turn is settled.',
      queue: NAME,
    });
    this.service.addEndpoint('settle', {
      subject: rpcSubject('*', 'settle'),
      handler: (error, message) => {
        if (error === null) void this.answer(message);
      },
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.service?.stop();
  }

  private async answer(message: ServiceMsg): Promise<void> {
    try {
      const project = projectOfSubject(message.subject) ?? '';
      if (!(await this.requests.knows(project))) throw noProject(project);
      const request = requestOf(message);
      message.respond(JSON.stringify(await this.requests.settle(project, request, new AbortController().signal)));
    } catch (error) {
      const { problem } = error instanceof ProblemError ? error : new ProblemError(problemOf('unavailable', 503, textOf(error)));
      message.respondError(problem.status, problem.detail, JSON.stringify(problem));
    }
  }
}

function requestOf(message: ServiceMsg): ReturnType<typeof settleRequest.parse> {
  const parsed = settleRequest.safeParse(jsonOf(message));
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message: text }) => ({ path: path.join('.'), message: text }));
  throw new ProblemError(
    problemOf('invalid-request', 422, errors.map(({ path, message: text }) => `${path}: ${text}`).join('; '), errors),
  );
}

/** Undefined for what is no JSON; no schema takes that. */
function jsonOf(message: ServiceMsg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

const noProject = (project: string): ProblemError =>
  new ProblemError(problemOf('not-found', 404, `There is no project ${project}.`));
const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
