import { armOf, type Arm } from '#domain/evidence';
import { contentHash } from '#domain/ids';
import { normalRuleText } from '#domain/rules';
import type { TestDatabase } from '#testing';

export interface GivenRule {
  readonly id: string;
  readonly rule?: string;
  readonly scope?: string;
  readonly status?: 'candidate' | 'active' | 'retired';
  readonly project?: string;
  readonly tags?: readonly string[];
  readonly hold?: 'approval' | 'veto';
  /** Seconds from now until a veto is over. */
  readonly heldFor?: number;
  readonly episode?: string;
  /** Share of sessions that see it. Default: half for a candidate, all for a promoted rule. */
  readonly allocation?: number;
}

/** Puts rules where repair would, one version for all of them. */
export async function insertRules(db: TestDatabase, given: readonly GivenRule[], project = 'default'): Promise<void> {
  const [row] = await db.query<{ version: string }>(
    `INSERT INTO rules.versions (project, version) VALUES ($1, 1)
     ON CONFLICT (project) DO UPDATE SET version = rules.versions.version + 1 RETURNING version`,
    [project],
  );
  const rows = given.map((rule, index) => rowOf(rule, index));
  await db.query(
    `INSERT INTO rules.rules (id, project, seq, rule, rationale, tags, scope, status, hold, held_until, episode, author, normal_hash, allocation, created_at, promoted_at)
     SELECT id, $1, $2, rule, 'because it was so', tags, scope, status, hold, now() + held_for * interval '1 second', episode, 'repair', normal_hash, allocation,
       now() + n * interval '1 millisecond', CASE WHEN status = 'active' THEN now() END
     FROM json_to_recordset($3::json) AS r(id text, n int, rule text, tags text[], scope text, status text, hold text, held_for float8, episode text, normal_hash text, allocation float8)`,
    [project, row?.version, JSON.stringify(rows)],
  );
}

function rowOf(
  { id, rule = `Advice of ${id}: look twice.`, scope = 'global', status = 'active', ...rest }: GivenRule,
  n: number,
) {
  const { tags = [], hold = null, heldFor = null, episode = null, allocation = status === 'candidate' ? 0.5 : 1 } = rest;
  const normal_hash = contentHash(normalRuleText(rule));
  return { id, n, rule, tags, scope, status, hold, held_for: heldFor, episode, normal_hash, allocation };
}

/** A session that is in the arm in the trial of every one of these rules. */
export async function sessionIn(db: TestDatabase, arm: Arm, ruleIds: readonly string[], name = 'agent'): Promise<string> {
  const [row] = await db.query<{ salt: string }>("SELECT salt FROM edge.projects WHERE project = 'default'");
  const salt = row?.salt ?? '';
  for (let n = 0; ; n += 1) {
    const sessionId = `${name}-${n}`;
    if (ruleIds.every((ruleId) => armOf({ ruleId, sessionId, salt }, 0.5) === arm)) return sessionId;
  }
}
