import { z } from 'zod';
import { readRpcAnswer, RPC_ANSWERS, type RpcAnswer } from './rpc-answer.js';

const json = z.unknown();

/** `rpc.verify`: did this turn end as its user wanted? Answered by the user's own code. */
export const verifyRequest = z.looseObject({
  session_id: z.string(),
  turn_index: z.int().min(0),
  end_state: json,
  replay_id: z.string().nullish(),
});
export type VerifyRequest = z.output<typeof verifyRequest>;

/** `rpc.metric.<name>`: what a project's own metric says of one trace. `request` and `answer` are its texts, without their wrappers. */
export const metricRequest = z.looseObject({
  metric: z.string(),
  session_id: z.string(),
  turn_index: z.int().min(0),
  trace: json,
  request: z.string(),
  answer: z.string(),
  end_state: json,
});
export type MetricRequest = z.output<typeof metricRequest>;

/** The answer to `rpc.verify`, in any form that `readRpcAnswer` knows; anything else does not parse. */
export const verifyAnswer = json.transform((given, context): RpcAnswer => {
  const answer = readRpcAnswer(given);
  if (answer !== undefined) return answer;
  context.addIssue({ code: 'custom', message: `expected ${RPC_ANSWERS}` });
  return z.NEVER;
});
/** The answer of a project's own metric is read in the same way. */
export const metricAnswer = verifyAnswer;
