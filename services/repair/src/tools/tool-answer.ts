import type { CallOutcome } from '#domain/repair';

/** What a tool call did, and what the model is told of it. */
export interface ToolAnswer {
  readonly outcome: CallOutcome;
  readonly content: Readonly<Record<string, unknown>>;
}

/** Told to the model, so that it can do better within its turns. */
export function refused(error: string): ToolAnswer {
  return { outcome: { kind: 'refused' }, content: { ok: false, error } };
}
