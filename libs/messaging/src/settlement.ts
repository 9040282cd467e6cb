import { InfrastructureError, TerminalError } from './errors.js';

/** What becomes of deliveries whose handling threw. */
export type Settlement =
  | { readonly action: 'hold'; readonly dependency: string; readonly delayMs: number }
  | { readonly action: 'split' }
  | { readonly action: 'dead'; readonly reason: string }
  | { readonly action: 'count' };

const HOLD_BASE_MS = 100;
const HOLD_MAX_MS = 5_000;

/**
 * Pure: an infrastructure failure holds the batch and tries again (`holds` = how often already); any other failure of a
 * batch is narrowed down to the message that causes it; that one is dead at once when it says so itself, else counted.
 */
export function settle(error: unknown, size: number, holds: number): Settlement {
  if (error instanceof InfrastructureError) {
    return {
      action: 'hold',
      dependency: error.dependency,
      delayMs: Math.min(HOLD_MAX_MS, HOLD_BASE_MS * 2 ** Math.min(holds, 10)),
    };
  }
  if (size > 1) return { action: 'split' };
  if (error instanceof TerminalError) return { action: 'dead', reason: error.message };
  return { action: 'count' };
}

const RETRY_MS = [500, 2_000, 10_000, 30_000];

/** After the nth counted failure of a message: the delay before it is delivered again, or null when it is dead. */
export function retryDelay(attempts: number, maxAttempts: number): number | null {
  if (attempts >= maxAttempts) return null;
  return RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1] ?? RETRY_MS[0] ?? 0;
}
