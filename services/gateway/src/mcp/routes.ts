import { z } from 'zod';
import { sessionIdText } from '#contracts';
import { other } from '../http/answers.js';
import { defineRoute } from '../http/route.js';

export const mcpRoutes = {
  mcp: defineRoute({
    id: 'mcp',
    method: 'POST',
    path: '/mcp',
    summary:
      'The four reads of rules as tools of the Model Context Protocol (Streamable HTTP, stateless). The session is named by the header Fleetmend-Session, or by `?session=`.',
    access: ['rules:read'],
    query: z.strictObject({ session: sessionIdText.optional() }),
    body: { name: 'McpMessage', schema: z.unknown(), raw: true },
    answers: [other('application/json', 'A JSON-RPC answer.')],
  }),
} as const;
