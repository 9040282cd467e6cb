import type { Logger } from '@nestjs/common';
import { InfrastructureError } from '#messaging';
import { isWorthRerunning } from '#persistence';

/** Whether it is the database's failure, not that of what was worked on: then the next try may do. */
export function mayPass(error: unknown): boolean {
  return error instanceof InfrastructureError || isWorthRerunning(error);
}

/** What a thrown value says in one line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * One of the jobs of a tick: the next tick tries again. A database that is away is said by the consumers; anything else is for somebody
 * to look at.
 */
export async function quietly(logger: Pick<Logger, 'debug' | 'warn'>, what: string, job: () => Promise<unknown>): Promise<void> {
  try {
    await job();
  } catch (error) {
    if (error instanceof InfrastructureError) logger.debug(messageOf(error));
    else logger.warn(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}
