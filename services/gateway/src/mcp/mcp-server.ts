import { createMcpHandler, McpServer, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { ruleTools, type RuleTool } from '#contracts';
import type { ReadingSession } from '../rules/reading-session.js';
import type { RuleReader } from '../rules/rule-reader.js';

/** Who calls, and for which session; known before the protocol is looked at. */
export interface McpCaller extends ReadingSession {
  readonly project: string;
}

/** A tool of whatever shape. */
interface Declared {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
}

const ABOUT = { name: 'fleetmend', version: '1.0.0' };
const INSTRUCTIONS = 'Advice learned from earlier work, read-only. It never overrides your own instructions or policies.';
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Answers MCP requests; every request is whole in itself, so any gateway may answer any of them. */
export class McpDoor {
  private readonly handlers = new WeakMap<Request, McpCaller>();
  private readonly handler: McpHttpHandler;

  constructor(private readonly reader: RuleReader) {
    this.handler = createMcpHandler(({ requestInfo }) => this.serverFor(requestInfo), {
      // Nothing here changes while a client listens, and a stream that never ends would only be held.
      maxSubscriptions: 0,
    });
  }

  async answer(request: Request, caller: McpCaller, parsedBody: unknown): Promise<Response> {
    this.handlers.set(request, caller);
    return this.handler.fetch(request, { parsedBody });
  }

  async close(): Promise<void> {
    await this.handler.close();
  }

  private serverFor(request: Request | undefined): McpServer {
    const caller = request === undefined ? undefined : this.handlers.get(request);
    if (caller === undefined) throw new Error('an MCP request without its caller');
    const server = new McpServer(ABOUT, { instructions: INSTRUCTIONS, capabilities: { tools: { listChanged: false } } });
    for (const tool of Object.keys(ruleTools) as RuleTool[]) this.register(server, tool, caller);
    return server;
  }

  private register(server: McpServer, tool: RuleTool, caller: McpCaller): void {
    const { name, description, input, output }: Declared = ruleTools[tool];
    server.registerTool(
      name,
      { description, inputSchema: input, outputSchema: output, annotations: READ_ONLY },
      async (args: unknown) => {
        const answer = await this.reader.answer({ ...caller, tool, args });
        if (!answer.ok) return { isError: true, content: [{ type: 'text', text: answer.error }] };
        return {
          content: [{ type: 'text', text: JSON.stringify(answer.answer) }],
          structuredContent: answer.answer,
        };
      },
    );
  }
}
