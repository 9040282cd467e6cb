import { Svcm, type Service, type ServiceMsg } from '@nats-io/services';
import type { NatsConnection } from '@nats-io/transport-node';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { z } from 'zod';
import { projectOfSubject, rpcSubject, ruleTools, type RuleTool } from '#contracts';
import { parseJson } from '#ingest';
import { InfrastructureError, type ProjectDirectory } from '#messaging';
import { readingSession } from '../rules/reading-session.js';
import type { RuleReader } from '../rules/rule-reader.js';

export interface RuleServiceParts {
  readonly nc: NatsConnection;
  readonly reader: RuleReader;
  readonly projects: ProjectDirectory;
  readonly onError: (text: string) => void;
}

/** What `nats micro ls` shows. A new major version when the answers change in another way than by a further field. */
const SERVICE = { name: 'fleetmend-rules', version: '1.0.0', queue: 'fleetmend-rules' };
const DESCRIPTION = 'Advice learned from earlier work of agents, read-only. The session that reads is the header Fm-Session.';
const SESSION_HEADER = 'Fm-Session';
const TURN_HEADER = 'Fm-Turn';
const TOOLS = Object.keys(ruleTools) as RuleTool[];

interface Failure {
  readonly code: 400 | 404 | 500 | 503;
  readonly text: string;
}

/** The four reads over NATS: a micro service of all gateways together, with its schemas in its metadata. */
export class RuleService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private service: Service | undefined;

  constructor(private readonly parts: RuleServiceParts) {}

  async onApplicationBootstrap(): Promise<void> {
    const service = await new Svcm(this.parts.nc).add({ ...SERVICE, description: DESCRIPTION });
    this.service = service;
    for (const tool of TOOLS)
      service.addEndpoint(tool, {
        subject: rpcSubject('*', `rules.${tool}`),
        metadata: metadataOf(tool),
        handler: (error, message) => {
          if (error === null) void respond(this.parts, tool, message);
        },
      });
  }

  /** Other gateways take over: what has been asked already is answered. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.service?.stop();
  }
}

function metadataOf(tool: RuleTool): Record<string, string> {
  const { name, description, input, output } = ruleTools[tool];
  const schema = (one: z.ZodType, io: 'input' | 'output'): string => JSON.stringify(z.toJSONSchema(one, { io }));
  return { tool: name, description, input: schema(input, 'input'), output: schema(output, 'output') };
}

async function respond(parts: RuleServiceParts, tool: RuleTool, message: ServiceMsg): Promise<void> {
  const answer = await answerTo(parts, tool, message).catch((error: unknown) => unexpected(parts, error));
  if (typeof answer === 'string') message.respond(answer);
  else message.respondError(answer.code, answer.text, JSON.stringify({ error: answer.text }));
}

async function answerTo({ reader, projects }: RuleServiceParts, tool: RuleTool, message: ServiceMsg): Promise<string | Failure> {
  const project = projectOfSubject(message.subject);
  if (project === undefined || !(await projects.exists(project))) return { code: 404, text: 'there is no such project' };
  const read = readingSession(message.headers?.get(SESSION_HEADER), message.headers?.get(TURN_HEADER));
  if (!read.ok) return { code: 400, text: `${read.path === 'session' ? SESSION_HEADER : TURN_HEADER}: ${read.error}` };
  const args = argumentsOf(message.data);
  if (args === undefined) return { code: 400, text: 'the request is not JSON' };
  const answer = await reader.answer({ project, ...read.reading, tool, args: args.value });
  return answer.ok ? JSON.stringify(answer.answer) : { code: 400, text: answer.error };
}

/** Nothing at all stands for no arguments. */
function argumentsOf(data: Uint8Array): { readonly value: unknown } | undefined {
  if (data.length === 0) return { value: {} };
  try {
    return parseJson(data);
  } catch {
    return undefined;
  }
}

function unexpected({ onError }: RuleServiceParts, error: unknown): Failure {
  if (error instanceof InfrastructureError) return { code: 503, text: `the ${error.dependency} is away; ask again` };
  onError(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { code: 500, text: 'a fault of the gateway; its log has it' };
}
