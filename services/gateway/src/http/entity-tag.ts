import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_HEADER } from './reading.js';

/**
 * A strong tag of the bytes themselves: sessions that may see other candidates have other answers, and so other tags, and one that
 * sees the same has the same.
 */
function entityTag(body: string): string {
  return `"${createHash('sha1').update(body).digest('base64url')}"`;
}

/**
 * Sends an answer that its reader may keep but has to ask about (`no-cache`): what was read is recorded each time. 304 only for the
 * tag of this very answer, never for `*`.
 */
export async function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body }: { readonly type: string; readonly body: string },
): Promise<void> {
  const tag = entityTag(body);
  reply.headers({ etag: tag, 'cache-control': 'private, no-cache', vary: `Accept, Authorization, ${SESSION_HEADER}` });
  if (presented(request.headers['if-none-match']).includes(tag)) await reply.status(304).send();
  else await reply.type(type).send(body);
}

function presented(header: string | undefined): string[] {
  return (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
}
