import { simulate, type Scenario, type SimulatedShares } from '#domain/evidence';
import { CommandError, exitCodes } from '../exit-codes.js';
import { writeOut } from '../output/write.js';
import { numberIn, settingsOf, shareOf } from './trials.js';
import { fieldsOf, type Fields } from './shapes.js';

const EXAMPLE = '{"base_rate": 0.5, "effect": 0.25}';
const defaults = {
  runs: 2000,
  seed: 1,
  sessions: 400,
  pairs: 20,
  allocation: 0.5,
  margin: 0.05,
  minSessions: 5,
  deviation: 0.1,
  score: 0.4,
};

const FIELDS = {
  live: ['base_rate', 'last_base_rate', 'sessions', 'allocation', 'before_rate', 'min_sessions'],
  pairs: ['base_score', 'deviation', 'pairs'],
  both: ['kind', 'method', 'effect', 'runs', 'seed', 'alpha', 'candidates', 'config'],
} as const;

/** `{base_rate, effect, ...}` or `{kind: "pairs", effect, deviation, ...}` -> shares. A flag holds where a line has no value of its own. */
export function answerSimulation(flags: Fields): (line: unknown) => SimulatedShares {
  return (line) => simulate(scenarioOf({ ...flags, ...fieldsOf(line, EXAMPLE) }));
}

/** Prints the answer to the flags alone. @throws CommandError naming the flag's field that cannot be used */
export async function answerFlags(flags: Fields): Promise<void> {
  await writeOut(`${JSON.stringify(simulate(usable(flags)))}\n`);
}

function usable(flags: Fields): Scenario {
  try {
    return scenarioOf(flags);
  } catch (error) {
    throw new CommandError(exitCodes.usage, error instanceof Error ? error.message : String(error));
  }
}

function scenarioOf(fields: Fields): Scenario {
  const { kind = 'live', method = 'evidence' } = fields;
  if (kind !== 'live' && kind !== 'pairs') throw new TypeError(`kind: ${JSON.stringify(kind)} is neither "live" nor "pairs"`);
  if (method !== 'evidence' && method !== 'threshold') {
    throw new TypeError(`method: ${JSON.stringify(method)} is neither "evidence" nor "threshold"`);
  }
  refuseOthers(fields, [...FIELDS[kind], ...FIELDS.both]);
  const settings = settingsOf(fields);
  const margin = settings.rule_promote_margin;
  const common = {
    method,
    effect: within(fields, 'effect', 0, [-1, 1]),
    runs: whole(fields, 'runs', defaults.runs),
    seed: numberIn(fields, 'seed', defaults.seed),
    margins: { rule_promote_margin: margin, rule_regress_margin: defaults.margin },
  } as const;
  if (kind === 'pairs') return { kind, ...common, settings, ...pairsOf(fields) };
  const cap = whole(fields, 'sessions', defaults.sessions);
  return { kind, ...common, settings: { ...settings, trial_max_sessions: cap }, ...fleetOf(fields) };
}

function pairsOf(fields: Fields) {
  return {
    baseScore: within(fields, 'base_score', defaults.score, [0, 1]),
    deviation: within(fields, 'deviation', defaults.deviation, [0, 1]),
    maxPairs: whole(fields, 'pairs', defaults.pairs),
  };
}

function fleetOf(fields: Fields) {
  if (fields.base_rate === undefined) throw new TypeError('base_rate: it is missing; it is the breach rate without the rule');
  const baseRate = within(fields, 'base_rate', 0, [0, 1]);
  return {
    baseRate,
    lastBaseRate: within(fields, 'last_base_rate', baseRate, [0, 1]),
    allocation: shareOf(fields, 'allocation', defaults.allocation),
    beforeRate: within(fields, 'before_rate', baseRate, [0, 1]),
    minSessions: whole(fields, 'min_sessions', defaults.minSessions),
  };
}

/** A misspelt name would silently answer another question. */
function refuseOthers(fields: Fields, known: readonly string[]): void {
  const other = Object.keys(fields).find((name) => fields[name] !== undefined && !known.includes(name));
  if (other !== undefined) throw new TypeError(`${other}: not a field here; there are ${known.join(', ')}`);
}

function within(fields: Fields, name: string, otherwise: number, [least, most]: readonly [number, number]): number {
  const value = numberIn(fields, name, otherwise);
  if (value >= least && value <= most) return value;
  throw new RangeError(`${name}: a number from ${least} to ${most} is needed, not ${value}`);
}

function whole(fields: Fields, name: string, otherwise: number): number {
  const value = numberIn(fields, name, otherwise);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`${name}: a whole number of at least 1 is needed, not ${value}`);
}
