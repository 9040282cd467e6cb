import { any, NEAR, words, type LintPattern } from './lint-pattern.js';

// "Score", "gate", "judge" and "notice" are words of many trades (a credit score, an airport gate). They count beside words that
// only a loop like this one puts there.
const OWN_METRICS = any(
  'task_completion|tool_correctness|argument_correctness|plan_adherence|plan_quality|step_efficiency|loop_detection|outcome_correct',
);
const SPOKEN_METRICS = any(
  'task completion|(?:tool|argument) (?:call )?correctness|plan (?:adherence|quality)|step efficiency|loop detection|coherence',
);
const JUDGES = any('judges?|evaluators?|graders?|(?:reward|scoring|grading) (?:model|function|system)s?');
const WORK = any('responses?|answers?|outputs?|traces?|runs?|turns?|trajector(?:y|ies)');
const RAISE = any(
  'raise|raising|improve|improving|increase|increasing|boost|boosting|maximi[sz]e|maximi[sz]ing|lift|inflate|lower|lowering|hurt|protect|reduce|gain|get|achieve',
);

/** Words about how the work is measured, instead of the work. */
export const loopTalk: readonly LintPattern[] = [
  words(
    any(
      String.raw`fleetmend|repair (?:agent|model|loop)s?|(?:self-?)?healing loop|harness_\w+|(?:evaluation|agent|repair) harness|rules\.md|eval (?:set|case)s?`,
    ),
  ),
  words(OWN_METRICS),
  words(any('breach|stall|regression'), String.raw`:[a-z_]{3,}`),
  words(SPOKEN_METRICS, ' ', any('scores?|metrics?|thresholds?|ratings?|gates?|breach(?:es)?|stalls?|regressions?')),
  words(
    any('scores?|ratings?|breach(?:es)?|stalls?|regressions?'),
    ' (?:for|of|in|on) (?:the |this |each )?',
    any(`${SPOKEN_METRICS}|turns?|traces?|trajectory|judges?|evaluators?|metrics?`),
  ),
  words(
    any('evaluator|judge|grader|trajectory|tier[ -]?[0-3]|evaluation'),
    "(?:'s|s|s')? ",
    any('scores?|scoring|metrics?|gates?|thresholds?|breach(?:es)?|verdicts?|notices?'),
  ),
  words(any("your|the agent's|our"), ' (?:own |overall |final |evaluation |quality |task |confidence )?scores?'),
  words(
    RAISE,
    ' (?:the |your |its |a |an )*(?:overall |final |evaluation |quality |task |high |higher |better |good )*',
    any('scores?|metrics|reward signal|rewards?'),
  ),
  words('to score ', any('higher|better|well|high')),
  words(
    any('scored|graded|judged|evaluated|penali[sz]ed|rewarded|measured'),
    ' (?:\\w+ )?by (?:the |an? )?(?:\\w+ )?',
    any(`${JUDGES}|llm|metrics?|gates?`),
  ),
  words(WORK, ' (?:(?:is|are|was|were|be|being|get|gets) )?(?:\\w+ )?', any('scored|graded|judged|penali[sz]ed|rewarded')),
  words(any('llm|model|ai|automated|automatic|evaluation'), '[ -]', any('judges?|graders?|evaluators?')),
  words(any('the|an|any'), ' ', any('evaluators?|graders?')),
  words(JUDGES, ' ', NEAR, any(String.raw`scores?|scored|scoring|evaluat\w+|grad(?:e|es|ing)|penali[sz]\w+|rewards?|traces?`)),
  words(any('satisfy|please|convince|persuade|impress|fool|trick'), ' (?:the |an? )?', JUDGES),
  words(
    any('trigger|triggering|avoid|avoiding|prevent|preventing|silence|silencing'),
    ' (?:an? |any |another |further |more |new |alert )*notices?',
  ),
  words(any('trajectory|regression|stall'), ' gates?'),
];
