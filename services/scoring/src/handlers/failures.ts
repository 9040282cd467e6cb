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
