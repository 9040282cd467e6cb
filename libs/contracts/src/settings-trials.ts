import { z } from 'zod';

const alpha = z.number().gt(0).lt(1);
const margin = z.number().min(0).max(1);
const seconds = z.number().min(0);

/** Settings of a project about the trials of its rules (docs/evidence.md). A trial keeps those that were in force when it began. */
export const trialsShape = {
  trial_alpha: alpha.default(0.05).describe('Probability of ever promoting a rule that does nothing.'),
  trial_alpha_harm: alpha.default(0.05).describe('Probability of ever retiring a rule as harmful that does nothing.'),
  trial_familywise: z
    .boolean()
    .default(false)
    .describe('Whether `trial_alpha` is shared by all candidates that are in trial when a trial begins.'),
  rule_promote_margin: margin
    .default(0.05)
    .describe('The least observed effect that is worth having, in breach rate or in score.'),
  trial_max_sessions: z.int().min(1).default(1_000).describe('Counted sessions after which a candidate is retired as unproven.'),
  trial_max_days: z.number().positive().default(30).describe('Days after which a candidate is retired as unproven.'),
  ablation_rate: z
    .number()
    .min(0)
    .max(0.5)
    .default(0.02)
    .describe(
      'Share of the sessions that do not see a rule after its promotion, so that it is seen whether it still helps; 0: none.',
    ),
  ablation_max_sessions: z
    .int()
    .min(1)
    .default(4_000)
    .describe('Counted sessions after which a rule that shows no effect any more is listed as stale.'),
  trial_window_turns: z.int().min(1).default(5).describe('Turns after the exposure that decide the outcome of a session.'),
  trial_session_idle_s: seconds.default(900).describe('Seconds without a turn after which a session counts as closed.'),
  trial_close_grace_s: seconds
    .default(300)
    .describe('Seconds that the outcome of a closed session waits for the reports of its turns.'),
};

/** Settings of a project about replays: cases run again, with and without a rule. */
export const replaysShape = {
  replay_timeout_s: z.number().positive().default(300).describe('Seconds that one replay may take.'),
  replay_env_wait_timeout_s: seconds
    .default(0)
    .describe('Seconds that a replay may wait for its environment before it starts; 0: that time is part of `replay_timeout_s`.'),
  replay_pairs_max: z.int().min(0).default(20).describe('Pairs of replays that a candidate gets at most; 0: none.'),
  rule_regress_margin: margin.default(0.05).describe('How far a score must fall in a regression run to count as regressed.'),
};
