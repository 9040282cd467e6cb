import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { plain } from './outcome.js';
import { patternCost, steps, STEPS_MAX, UnsafePatternError, type PatternCost } from './safe-pattern.js';
import { prepareSchema, STEP_KEYWORD, UnusableSchemaError } from './schema-preparation.js';

export type Verdict =
  { readonly kind: 'valid' } | { readonly kind: 'invalid'; readonly why: string } | { readonly kind: 'unjudged' };
export type Validator =
  { readonly kind: 'usable'; readonly check: (value: unknown) => Verdict } | { readonly kind: 'unusable'; readonly why: string };

/** Followed references per validated call. Real arguments need a few dozen; a schema that doubles itself needs 2^depth. */
const REFERENCES_MAX = 10_000;
/** Backtracking steps (upper bound) of all patterns over all strings of one call. */
const PATTERN_STEPS_MAX = 4 * STEPS_MAX;
/** Validation is synchronous, so one counter serves all compiled schemas. */
const budget = { references: 0, patternSteps: 0 };

class TooManySteps extends Error {}

type Dialect = '2020-12' | 'draft-07';

/** A compiler keeps what it compiled for ever, so each schema gets one of its own, without the costly meta-schema. */
const OPTIONS: Options = {
  strict: false,
  logger: false,
  meta: false,
  validateSchema: false,
  code: { regExp: Object.assign(boundedPattern, { code: 'boundedPattern' }) },
};

/** Check schemas against their meta-schema; made at first use, they compile nothing else and do not grow. */
const checkers = new Map<Dialect, Ajv | Ajv2020>();

/** Compiles a schema from outside. Never throws: what cannot be compiled is said to be unusable, with the reason. */
export function compileSchema(schema: unknown): Validator {
  try {
    const prepared = prepareSchema(schema);
    const validate = compileAny(prepared, declaresDraft7(schema) ? ['draft-07', '2020-12'] : ['2020-12', 'draft-07']);
    return { kind: 'usable', check: (value) => run(validate, value) };
  } catch (error) {
    if (error instanceof UnusableSchemaError) return { kind: 'unusable', why: error.message };
    const unsafe = error instanceof UnsafePatternError;
    return { kind: 'unusable', why: unsafe ? 'it has a pattern that could take too long' : 'it is not a valid JSON Schema' };
  }
}

function compileAny(schema: Record<string, unknown>, dialects: readonly Dialect[]): ValidateFunction {
  let failure: unknown = new UnusableSchemaError('it is not a valid JSON Schema');
  for (const dialect of dialects) {
    try {
      if (checker(dialect).validateSchema(schema) === true) return compiler(dialect).compile(schema);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function checker(dialect: Dialect): Ajv | Ajv2020 {
  const known = checkers.get(dialect);
  if (known !== undefined) return known;
  const options: Options = { strict: false, logger: false };
  const made = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options);
  checkers.set(dialect, made);
  return made;
}

function compiler(dialect: Dialect): Ajv | Ajv2020 {
  const ajv = dialect === '2020-12' ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS);
  formats.default(ajv, { mode: 'fast' });
  ajv.addKeyword({ keyword: STEP_KEYWORD, validate: takeStep, errors: false });
  return ajv;
}

function takeStep(): boolean {
  budget.references -= 1;
  if (budget.references < 0) throw new TooManySteps();
  return true;
}

function run(validate: ValidateFunction, value: unknown): Verdict {
  budget.references = REFERENCES_MAX;
  budget.patternSteps = PATTERN_STEPS_MAX;
  try {
    if (validate(value)) return { kind: 'valid' };
  } catch {
    // Too many steps, too deep a recursion, or a string too long for its pattern: no verdict, and no breach.
    return { kind: 'unjudged' };
  }
  const error = validate.errors?.[0];
  const where = error?.instancePath === undefined || error.instancePath === '' ? 'arguments' : plain(error.instancePath, 60);
  return { kind: 'invalid', why: `${where} ${plain(error?.message ?? 'do not match the schema', 80)}` };
}

interface PatternEngine {
  test: (text: string) => boolean;
  toString: () => string;
}

function boundedPattern(pattern: string, flags: string): PatternEngine {
  const cost: PatternCost = patternCost(pattern);
  const expression = expressionOf(pattern, flags);
  return {
    test: (text) => {
      const needed = steps(cost, text.length);
      budget.patternSteps -= needed;
      if (needed > STEPS_MAX || budget.patternSteps < 0) throw new TooManySteps();
      return expression.test(text);
    },
    // Ajv tells the patterns of a schema apart by this text.
    toString: () => `${pattern}/${flags}`,
  };
}

/** Patterns written for other languages often escape what Unicode mode does not let them escape. */
function expressionOf(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return new RegExp(pattern);
  }
}

function declaresDraft7(schema: unknown): boolean {
  const declared = typeof schema === 'object' && schema !== null && '$schema' in schema ? schema.$schema : undefined;
  return typeof declared === 'string' && /draft-0[467]/.test(declared);
}
