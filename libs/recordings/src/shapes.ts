import type { turnEndedInput } from '#contracts';
import type { z } from 'zod';

/** A turn as an agent would send it: what `turnEndedInput` accepts. */
export type TurnInput = z.input<typeof turnEndedInput>;
export type TraceInput = NonNullable<TurnInput['traces']>[number];
export type SpanInput = NonNullable<TraceInput['spans']>[number];
export type ToolInput = NonNullable<TurnInput['tools']>[number];

/** The value is not a recording of the expected kind; the message says what is missing. */
export class RecordingError extends Error {}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
