/** Why a provider waits for a person; every other trouble passes by itself. */
export const BLOCKING_CODES = ['auth', 'config', 'billing', 'unpriced'] as const;

export function isBlocking(code: string): boolean {
  return (BLOCKING_CODES as readonly string[]).includes(code);
}
