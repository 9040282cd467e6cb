import { replayAdmission, type AdmitLine } from '#domain/admission';
import { replayNotices, type DedupLine } from '#domain/notices';
import { configOf, fieldsOf, listOf, numberOf, objectOf, textOf, type Fields } from './shapes.js';

const DEDUP_KINDS = {
  alert_cooldown_turns: 'number',
  circuit_breaker_max_notices: 'number',
  circuit_breaker_window_s: 'number',
  observe_only: 'boolean',
} as const;
const ADMIT_KINDS = {
  eval_sample_every: 'number',
  session_min_eval_interval_s: 'number',
  max_evals: 'number',
  max_evals_per_run: 'number',
} as const;

/** `{kind?, config?, turns}` -> `{outcomes}`, or for kind `admit` `{admitted, budget_skip_events}`. */
export function answerNoticeLine(line: unknown): object {
  const fields = fieldsOf(line, '{"turns": [{"session": "s", "t": 0, "signatures": ["breach:tool_correctness"]}]}');
  const { kind = 'dedup' } = fields;
  if (kind === 'dedup') return replayNotices(dedupLine(fields));
  if (kind === 'admit') return replayAdmission(admitLine(fields));
  throw new TypeError(`kind: ${JSON.stringify(kind)} is neither "dedup" nor "admit"`);
}

function dedupLine(fields: Fields): DedupLine {
  const turns = listOf(fields, 'turns', (value, path) => {
    const turn = objectOf(value, path);
    return { ...placeOf(turn, path), signatures: listOf(turn, 'signatures', textOf) };
  });
  return { config: configOf<NonNullable<DedupLine['config']>>(fields, DEDUP_KINDS), turns };
}

function admitLine(fields: Fields): AdmitLine {
  const turns = listOf(fields, 'turns', (value, path) => placeOf(objectOf(value, path), path));
  return { config: configOf<NonNullable<AdmitLine['config']>>(fields, ADMIT_KINDS), turns };
}

function placeOf(turn: Fields, path: string): { session: string; t: number } {
  return { session: textOf(turn.session, `${path}.session`), t: numberOf(turn.t, `${path}.t`) };
}
