import { z } from 'zod';
import { unitScore } from '#llm';

/** A number in [0, 1] and why it is not another. */
export interface NumberAndReason {
  readonly reason: string;
  readonly verdict: number;
}

export const numberAndReason: z.ZodType<NumberAndReason> = z.object({ reason: z.string(), verdict: unitScore });

/** Ends each prompt that asks for a number. */
export const verdictShape = `Decide by the evidence first, then give the number. Values between the anchors are allowed when the case lies between them.
reason: one to three sentences that name the evidence which decided, and what keeps the number from being higher.

{"reason": string, "verdict": number from 0 to 1}`;
