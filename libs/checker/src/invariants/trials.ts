import { armOf, beginTrial, observe, type Arm, type Observation, type TrialState } from '#domain/evidence';
import type { Findings } from '../findings.js';
import type { Reader } from '../postgres/reader.js';
import { checkRows, type RowCheck } from './row-check.js';

/** Sums that differ by less than this are equal: additions in another order differ by an ulp. */
const TOLERANCE = 1e-9;

/** Invariants 11 and 12: trials follow from their observations, in the order of entry; a control session was shown no candidate. */
export async function checkTrials(reader: Reader, findings: Findings): Promise<void> {
  findings.count('trials', await reader.number('SELECT count(*) FROM validation.trials'));
  findings.count('observations', await reader.number('SELECT count(*) FROM validation.observations'));
  await checkRows(reader, findings, ORDER);
  await checkRows(reader, findings, OUTCOMES);
  await checkArms(reader, findings);
  await checkStates(reader, findings);
  await checkRows(reader, findings, SHOWN);
}

interface TrialRow {
  readonly project: string;
  readonly rule: string;
  readonly found: string;
}

/** The n-th counted session is the one that entered n-th, and none is left out. */
const ORDER: RowCheck<TrialRow> = {
  invariant: 11,
  sql: `SELECT t.project, t.rule, 'session ' || coalesce(o.n, e.entry) || ' is ' || coalesce(o.s::text, 'missing') AS found
        FROM validation.trials t
        JOIN LATERAL (SELECT s, row_number() OVER (ORDER BY seq) AS n FROM validation.observations WHERE rule = t.rule AND s IS NOT NULL) o ON true
        FULL JOIN validation.trial_sessions e ON e.rule = t.rule AND e.entry = o.n
        WHERE t.rule IS NOT NULL AND o.s IS DISTINCT FROM e.s
        UNION ALL SELECT t.project, t.rule, count(o.seq) || ' counted sessions' FROM validation.trials t LEFT JOIN validation.observations o ON o.rule = t.rule AND o.s IS NOT NULL
        GROUP BY t.rule HAVING count(o.seq) <> t.counted`,
  detail: ({ project, rule, found }) =>
    `${project}, trial ${rule}: expected sessions counted in the order of entry, found ${found}`,
};

/** What was counted of a session is its outcome, and it is that of its arm. */
const OUTCOMES: RowCheck<TrialRow> = {
  invariant: 11,
  sql: `SELECT t.project, t.rule, o.doc::text AS found FROM validation.observations o JOIN validation.trials t USING (rule) LEFT JOIN validation.trial_sessions e ON e.rule = o.rule AND e.s = o.s
        WHERE o.s IS NOT NULL AND ((o.doc ->> 'breached')::boolean IS DISTINCT FROM (e.outcome = 1) OR o.doc ->> 'arm' IS DISTINCT FROM e.arm)`,
  detail: ({ project, rule, found }) => `${project}, trial ${rule}: expected an observation as its session ended, found ${found}`,
};

async function checkArms(reader: Reader, findings: Findings): Promise<void> {
  const rows = reader.rows<{
    project: string;
    rule: string;
    of: string;
    session: string;
    arm: Arm;
    salt: string;
    allocation: number;
  }>(
    `SELECT t.project, t.rule, t.of, e.session, e.arm, p.salt, (t.state ->> 'allocation')::float8 AS allocation
     FROM validation.trial_sessions e JOIN validation.trials t USING (rule) JOIN edge.projects p ON p.project = t.project`,
  );
  for await (const { project, rule, of, session, arm, salt, allocation } of rows) {
    const expected = armOf({ ruleId: of, sessionId: session, salt }, allocation);
    if (arm !== expected)
      findings.add(11, `${project}, trial ${rule}: expected session ${session} in ${expected}, found it in ${arm}`);
  }
}

async function checkStates(reader: Reader, findings: Findings): Promise<void> {
  const trials = await reader.query<{ project: string; rule: string; state: TrialState }>(
    'SELECT project, rule, state FROM validation.trials',
  );
  const again = new Map(trials.map(({ rule, state }) => [rule, beginTrial(state.allocation)]));
  const rows = reader.rows<{ rule: string; doc: Observation }>(
    'SELECT rule, doc FROM validation.observations ORDER BY rule, seq',
  );
  for await (const { rule, doc } of rows) {
    const state = again.get(rule);
    if (state === undefined) findings.add(11, `trial ${rule}: expected a trial of its observations, found none`);
    else again.set(rule, observe(state, doc));
  }
  for (const { project, rule, state } of trials) {
    const expected = again.get(rule);
    if (!sameNumbers(state, expected))
      findings.add(11, `${project}, trial ${rule}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(state)}`);
  }
}

/** Equal but for what additions in another order may do. */
function sameNumbers(one: unknown, other: unknown): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= TOLERANCE;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) =>
    sameNumbers((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  );
}

const SHOWN: RowCheck<TrialRow> = {
  invariant: 12,
  sql: `SELECT t.project, t.rule, 'read ' || x.read_id || ' of session ' || e.session AS found FROM validation.trial_sessions e JOIN validation.trials t USING (rule)
        JOIN validation.exposures x ON x.s = e.s AND t.of = ANY(x.rule_ids) LEFT JOIN rules.rules r ON r.id = t.of
        WHERE t.kind = 'candidate' AND e.arm = 'control' AND (r.promoted_at IS NULL OR x.stored_us < extract(epoch FROM r.promoted_at) * 1000000)`,
  detail: ({ project, rule, found }) =>
    `${project}, trial ${rule}: expected nothing of it in answers to control, found it in ${found}`,
};
